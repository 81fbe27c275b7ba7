"""Recorded outputs of networks, which `localarc_lab.experiments` reads."""
