"""The commands that this package adds to `localarc`: one module each, thin layers over it."""
