"""How much does a service carry, from where on is nothing gained, and which part of it gives out first?"""
