"""The result of one method on one stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Local:
    """The worst group, or the worst neighbourhood of a size.

    Parameters
    ----------
    name : str
        The group, or the share of the rounds that a typical neighbourhood has, such as "10 %".
    risk : float
        Its mean loss.
    standard_error : float
        Standard error of the risk, as if rounds were independent.
    count : float
        Number of rounds; of a neighbourhood, the effective number.

    Examples
    --------
    >>> Local("10 %", risk=0.2, standard_error=0.01, count=900.0).risk
    0.2
    """

    name: str
    risk: float
    standard_error: float
    count: float


@dataclass(frozen=True)
class Result:
    """How one method did on a stream.

    Parameters
    ----------
    method : str
        Name of the method.
    alpha : float
        The target.
    rounds : int
        Number of rounds.
    values : mapping of str to float
        The value of every measure of `localarc.measures.MEASURES`, by its name. Risks of worst
        neighbourhoods mean nothing without the size: with large enough sets they are all 0.
    group : Local or None
        The group of at least 30 rounds with the highest risk; None without groups.
    neighbourhoods : tuple of Local
        The worst neighbourhood of each size, from large to small; empty without features.
    microseconds : float
        Processor time per round, of this run on this machine.
    unbounded : int, default 0
        The number of rounds whose set was unbounded, which the mean size leaves out.

    Examples
    --------
    >>> found = Result("ARC", 0.1, 100, {"risk": 0.12}, None, (), 1.5)
    >>> round(found.distance, 3)
    0.02
    """

    method: str
    alpha: float
    rounds: int
    values: Mapping[str, float]
    group: Local | None
    neighbourhoods: tuple[Local, ...]
    microseconds: float
    unbounded: int = 0

    @property
    def risk(self) -> float:
        """The mean loss."""
        return self.values["risk"]

    @property
    def size(self) -> float:
        """The mean set size, NaN if unknown."""
        return self.values["size"]

    @property
    def distance(self) -> float:
        """The distance of the risk from the target."""
        return abs(self.risk - self.alpha)
