"""What ARC and L-ARC consist of, below what is guaranteed about them: settings and sums."""
