"""Compare results: is the other one faster, slower or equivalent, or can the data not tell?"""
