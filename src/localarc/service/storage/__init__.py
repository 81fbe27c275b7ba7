"""Storage: the event log, snapshots and the thread that writes them."""
