"""Dictionary expansions: bounded memory for any kernel of the distance."""
