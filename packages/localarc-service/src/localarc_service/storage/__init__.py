"""Storage: the event store, the thread that writes to it, and migrations from older versions."""
