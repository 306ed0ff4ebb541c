"""Is a version faster than the reference, and by how much?"""
