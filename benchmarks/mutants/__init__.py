"""Mutants: which small faults in the sources the fast tests notice."""
