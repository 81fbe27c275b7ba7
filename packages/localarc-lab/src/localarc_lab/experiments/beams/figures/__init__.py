"""Figures of the beam experiment."""
