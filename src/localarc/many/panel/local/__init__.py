"""The local parts of the L-ARC streams of a panel: pooled, or an expansion for each key."""
