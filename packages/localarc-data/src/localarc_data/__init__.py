"""Recorded outputs of the networks in localarc's experiments; `localarc.experiments` reads them."""
