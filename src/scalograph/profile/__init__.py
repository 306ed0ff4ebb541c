"""What a program spends its time on: treatments of a study run once more, with a recorder on."""
