"""Storage: stored types, the event store and the thread that writes to it."""
