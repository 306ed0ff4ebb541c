"""What a Java workload spends its time on: treatments of a study run once more, with a flight recorder on."""
