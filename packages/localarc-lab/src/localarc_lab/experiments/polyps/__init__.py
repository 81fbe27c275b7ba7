"""Polyps: does the guarantee hold for the images of every hospital?"""
