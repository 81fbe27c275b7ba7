"""What a request means: streams, their state and their calibrators."""
