"""How parallel is a build, and which -j is best?"""
