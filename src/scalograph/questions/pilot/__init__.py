"""How many runs and iterations does a study need?"""
