"""Control: the idea. Kernels, rates, memory, calibrators and what they guarantee."""
