"""Bands around forecasts: coverage and width on real series, and speed."""
