"""What a program spends its time on: configurations of a study run once more, with a recorder on."""
