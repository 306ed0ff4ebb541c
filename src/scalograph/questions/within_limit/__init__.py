"""Up to which level does a response stay within its limit?"""
