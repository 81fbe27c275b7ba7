"""Is a tuned calibrator at least as even as untuned L-ARC?"""
