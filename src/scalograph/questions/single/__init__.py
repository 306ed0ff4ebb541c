"""How long does one configuration take?"""
