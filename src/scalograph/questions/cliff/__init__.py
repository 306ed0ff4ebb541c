"""Where along a factor does the time jump?"""
