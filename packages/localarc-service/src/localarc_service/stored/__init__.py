"""What is stored, versioned: events, and the config, state and snapshot of a stream."""
