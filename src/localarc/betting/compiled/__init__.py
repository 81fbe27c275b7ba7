"""Theorem E, compiled: bettors on overlapping nodes, and the ledger of late rounds."""
