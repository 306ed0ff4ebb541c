"""Which of many settings matter, by how much, and which only seem to?"""
