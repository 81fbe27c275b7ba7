"""Rows of a frame: what the keys of a bucket learn from them, and how a bucket is stored."""
