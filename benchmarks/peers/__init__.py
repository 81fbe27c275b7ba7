"""Peers: what a step costs, beside ARC and beside the packages that their authors released."""
