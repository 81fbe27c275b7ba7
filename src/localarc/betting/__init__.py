"""Theorem E: bettors around any threshold, and what they guarantee.

Losses that stay above the target make bettors rich, and their bets raise the threshold. What they
can win is bounded, and so is how far the losses stay from the target: `docs/guarantees.md`.

* `constants.py`, one folder up: every number.
* `compiled/`: the bettors of AutoLARC and Safeguard on overlapping nodes, and the ledger of rounds
  whose losses are late.
* `theorem_e.py`: the certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localarc.betting.theorem_e import AutoCertificate, NodeCertificate, Place

__all__ = ["AutoCertificate", "NodeCertificate", "Place"]


def __getattr__(name: str) -> object:
    """Import certificates when they are first used: `compiled` is beneath them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from localarc.betting import theorem_e

    return getattr(theorem_e, name)
