"""Expansions of many keys in one object."""
