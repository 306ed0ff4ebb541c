"""What the machine itself scales to, and a program's curve held against it."""
