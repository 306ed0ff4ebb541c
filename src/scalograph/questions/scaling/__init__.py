"""How does throughput go with size, and what limits it?"""
