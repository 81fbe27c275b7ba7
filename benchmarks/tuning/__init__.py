"""Is a tuned calibrator at least as even as L-ARC with README's settings?"""
