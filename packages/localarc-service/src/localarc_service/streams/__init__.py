"""Streams: what a request means, without HTTP and without disk."""
