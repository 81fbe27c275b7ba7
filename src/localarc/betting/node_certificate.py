"""What was seen at a node (all rounds, a group, a place), and what theorem E guarantees there."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from localarc.guarantees.bounds import Bound

BELOW = "theorem E, below"


@dataclass(frozen=True)
class NodeCertificate:
    """What was seen at a node (a group, a place, or all rounds), and what is guaranteed there.

    Calibrators make these: `cal.certificate().groups["a"]`. Rounds whose threshold went out before
    anything was known have no nodes.

    Parameters
    ----------
    rounds : float
        The weight of the node's rounds so far.
    alpha : float
        The target.
    risk : float
        The weighted mean of their losses, NaN before the first.
    excess : float
        The weighted sum of `L_t - alpha`.
    worst_stretch : float
        The largest such sum over any stretch of rounds up to now, as far as it was seen.
    above, below : Bound
        How far the risk can be above and below the target.

    Examples
    --------
    >>> from localarc import AutoLARC
    >>> cal = AutoLARC(alpha=0.1, initial_threshold=0.0)
    >>> cal = cal.update([0.0], 1.0, score=0.5, groups="a")
    >>> node = cal.certificate().groups["a"]
    >>> node.rounds, node.risk, round(node.excess, 3)
    (1.0, 1.0, 0.9)
    """

    rounds: float
    alpha: float
    risk: float
    excess: float
    worst_stretch: float
    above: Bound
    below: Bound

    @property
    def bound(self) -> Bound:
        """How far the risk can be from the target: on both sides, or above if that is promised."""
        if self.below.name != BELOW:
            return dataclasses.replace(self.above, name="theorem E")
        larger = max(self.above, self.below, key=lambda bound: bound.value)
        unmet = tuple(dict.fromkeys((*self.above.unmet, *self.below.unmet)))
        assumes = tuple(dict.fromkeys((*self.above.assumes, *self.below.assumes)))
        return Bound("theorem E", larger.value, assumes, unmet)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "rounds": self.rounds,
            "alpha": self.alpha,
            "risk": self.risk if self.rounds else None,
            "excess": self.excess,
            "worst_stretch": self.worst_stretch,
            "above": self.above.to_dict(),
            "below": self.below.to_dict(),
        }

    def __str__(self) -> str:
        return (
            f"mean loss {self.risk:.4f} over {self.rounds:.12g} rounds, target {self.alpha:g}\n"
            f"  {self.above}\n  {self.below}"
        )


@dataclass(frozen=True)
class Place:
    """A place in the space of features: a hat on a grid, what was seen there, and its bound.

    Calibrators return these: `cal.places(10)`, `cal.localized_bound(x)`.

    Parameters
    ----------
    centre : tuple of float or None
        Where the hat is largest, in the units of the features; None in a feature that it ignores.
    width : tuple of float or None
        How far it reaches from there in each feature.
    weight : float
        The weight of its rounds so far.
    risk : float
        The weighted mean of their losses.
    alpha : float
        The target.
    above : Bound
        How far that mean can be above the target.

    Examples
    --------
    >>> above = Bound("theorem E, above", 0.08, ("losses in [0, B]",))
    >>> place = Place((0.5,), (0.25,), weight=400.0, risk=0.13, alpha=0.1, above=above)
    >>> round(place.deviation, 2)
    0.03
    """

    centre: tuple[float | None, ...]
    width: tuple[float | None, ...]
    weight: float
    risk: float
    alpha: float
    above: Bound

    @property
    def deviation(self) -> float:
        """How far the risk is above the target there; negative if it is below."""
        return self.risk - self.alpha

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "centre": list(self.centre),
            "width": list(self.width),
            "weight": self.weight,
            "risk": self.risk,
            "above": self.above.to_dict(),
        }
