"""Wrapped models on streams of packages: localarc, MAPIE, crepes and river side by side."""
