"""The commands. Thin: each reads its arguments, calls one stop, prints."""
