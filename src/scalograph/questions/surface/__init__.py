"""How long do N workers take on M CPUs?"""
