"""Electricity: does the guarantee also hold on weekends?"""
