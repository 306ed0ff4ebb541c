"""How many CPUs does a program really use?"""
