"""Calibrators: ARC, L-ARC and Mondrian, and what they share."""
