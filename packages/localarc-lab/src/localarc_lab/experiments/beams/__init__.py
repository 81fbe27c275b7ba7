"""Beam selection: is service even across the map?"""
