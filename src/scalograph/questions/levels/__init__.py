"""What does each setting do to the figure that a study is about, where there is no speedup?"""
