"""The event store in PostgreSQL: one process owns it, others stand by."""
