"""Theorem E: bettors around any threshold, and what they guarantee.

Losses that stay above the target make bettors rich, and their bets raise the threshold. What they
can win is bounded, and so is how far the losses stay from the target: `docs/guarantees.md`.

* `localarc.constants`, one folder up: every number.
* `gain.py`: the theorem's formula. `sums.py`: what it is computed from.
* `bettors.py`, `late_rounds.py`: in NumPy, for bands. A cell has one node, and losses are late.
* `compiled/`: the same for the overlapping nodes of AutoLARC, Safeguard, LabelSets and Gate.
* `bounds.py`: bounds on mean losses, and their assumptions. `node_certificate.py` and
  `certificate.py`: what was seen, beside what is guaranteed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from localarc.betting.node_certificate import NodeCertificate, Place

if TYPE_CHECKING:
    from localarc.betting.certificate import AutoCertificate

__all__ = ["AutoCertificate", "NodeCertificate", "Place"]


def __getattr__(name: str) -> object:
    """Import what reads the engine's sums, and with them numba, when it is first used."""
    if name != "AutoCertificate":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from localarc.betting.certificate import AutoCertificate

    return AutoCertificate
