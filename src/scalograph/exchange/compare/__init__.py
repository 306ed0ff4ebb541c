"""Results beside each other: is the second one faster, slower, the same, or is that not measurable?"""
