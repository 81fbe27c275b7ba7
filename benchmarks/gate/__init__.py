"""How much a gate answers, and how much of it is wrong."""
