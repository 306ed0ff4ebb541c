"""What this machine grants, how noisy it is, what it scales to, and whether measuring works on it."""
