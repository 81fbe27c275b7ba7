"""Lattice expansions: constant memory for Gaussian kernels."""
