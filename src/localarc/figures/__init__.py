"""Figures: one function each, from (axes, data) to axes."""
