"""Exact expansions: every term, compiled."""
