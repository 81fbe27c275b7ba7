"""Monitors beside an exact binomial test and MAPIE: false alarms, delays and cost."""
