"""Fruit: does the guarantee hold at every level of the model's confidence?"""
