"""A measure: one number of a run, with its name, unit and direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from localarc.measures.rounds import Rounds
from localarc.measures.text import number

Unit: TypeAlias = Literal["loss", "size", "score"]
"""What a measure counts in: a risk in losses, which have a target; others have none."""

Direction: TypeAlias = Literal["lower", "higher", "target"]
"""Which values are better; "target": those nearer to the target."""


@dataclass(frozen=True)
class Measure:
    """One number of a run, and all that tables need to show it.

    Parameters
    ----------
    name : str
        The name of its column in files.
    title : str
        The head of its column in tables.
    function : callable
        Returns the number, given the `Rounds` of a run; NaN if it is unknown. The first line of its
        docstring is for the readers of tables.
    unit : "loss", "size" or "score"
        The unit. Risks of several streams are averaged in units of the target, all else in units
        of what the best constant threshold has.
    better : "lower", "higher" or "target"
        The direction.
    digits : int or None, default None
        Decimals in tables; None shows four significant digits.

    Examples
    --------
    >>> from localarc import ARC, replay
    >>> from localarc.curves import miscoverage
    >>> last = Measure("last", "last loss", lambda run: run.losses[-1], "loss", "lower")
    >>> curves = miscoverage([0.5, 0.2, 0.1])
    >>> last.of(replay(ARC(alpha=0.1), None, curves).rounds_of(curves))
    0.0
    """

    name: str
    title: str
    function: Callable[[Rounds], float]
    unit: Unit
    better: Direction
    digits: int | None = None

    @property
    def about(self) -> str:
        """A sentence for the readers of tables."""
        return (self.function.__doc__ or "").partition("\n")[0]

    def of(self, rounds: Rounds) -> float:
        """Return the number.

        Parameters
        ----------
        rounds : Rounds
            The rounds of a run.
        """
        return float(self.function(rounds))

    def text(self, value: float) -> str:
        """Return a value as tables show it.

        Parameters
        ----------
        value : float
            The value.
        """
        return number(value) if self.digits is None else f"{value:.{self.digits}f}"

    def excess(self, value: float, alpha: float) -> float:
        """Return how far a risk is on the wrong side of the target, in units of the target.

        Parameters
        ----------
        value : float
            The risk.
        alpha : float
            The target.
        """
        beyond = value / alpha - 1.0
        if self.better == "target":
            return abs(beyond)
        return max(beyond if self.better == "lower" else -beyond, 0.0)
