"""AutoLARC, compiled: bettors on overlapping nodes around a base that follows the scores."""
