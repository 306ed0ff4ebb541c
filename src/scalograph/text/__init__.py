"""Formats for people: numbers, units, escaped text. Nothing else in the project formats."""
