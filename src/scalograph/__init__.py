"""Scalograph: a scalability laboratory for Linux."""

__version__ = "0.1.0"
