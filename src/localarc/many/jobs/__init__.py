"""Jobs over files and Kafka topics on one machine, which resume where they stopped."""
