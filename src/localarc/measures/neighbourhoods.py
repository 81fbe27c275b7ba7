"""Risk per neighbourhood: a kernel-weighted mean of the losses around a centre."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.kernels import Kernel
from localarc.measures.risk import loss_vector
from localarc.validation import FloatArray, IntArray

_PAIRS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class LocalRisk:
    """Kernel-weighted risk at m centres: `sum_t w(x_t) L_t / sum_t w(x_t)`.

    Parameters
    ----------
    centres : array of float, shape (m, d)
        Where the risk was measured.
    risks : array of float, shape (m,)
        Weighted mean losses; NaN where every weight is 0.
    standard_errors : array of float, shape (m,)
        Standard errors of the risks, as if rounds were independent.
    counts : array of float, shape (m,)
        Effective numbers of rounds, `(sum w)^2 / sum w^2`.

    Examples
    --------
    >>> from localarc import RBF
    >>> local = localized_risk([0.0, 0.0], [1.0, 0.0], RBF(1.0), [0.0])
    >>> local.risks, local.counts
    (array([0.5]), array([2.]))
    """

    centres: FloatArray
    risks: FloatArray
    standard_errors: FloatArray
    counts: FloatArray

    def __len__(self) -> int:
        return len(self.risks)

    def __iter__(self) -> Iterator[Neighbourhood]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> Neighbourhood:
        numbers = self.risks[i], self.standard_errors[i], self.counts[i]
        return Neighbourhood(self.centres[i], *map(float, numbers))


def localized_risk(
    X: ArrayLike, losses: ArrayLike, kernel: Kernel, centres: ArrayLike
) -> LocalRisk:
    """Return the risk in the neighbourhood of each centre.

    Parameters
    ----------
    X : array_like of float, shape (n, d) or (n,)
        Input of each round.
    losses : array_like of float, shape (n,)
        Loss of each round.
    kernel : Kernel
        Weight of a round at a centre: `k(x_t, centre)`.
    centres : array_like of float, shape (m, d) or (m,)
        Centres of the neighbourhoods.

    Returns
    -------
    LocalRisk
        Risks, standard errors and effective counts.

    Examples
    --------
    >>> from localarc import RBF
    >>> localized_risk([0.0, 9.0], [1.0, 0.0], RBF(1.0), [0.0, 9.0]).risks.round(9)
    array([1., 0.])
    """
    points = validation.points(X)
    values = loss_vector(losses)
    at = validation.points(centres, points.shape[1])
    check_kernel(kernel)
    if len(values) != len(points):
        raise ValueError(
            f"losses must have one entry per row of X, got {len(values)} for {len(points)}."
        )
    rows = max(1, _PAIRS_AT_ONCE // max(1, len(points)))
    parts = [
        _weighted(kernel.matrix(at[i : i + rows], points), values) for i in range(0, len(at), rows)
    ]
    risks, errors, counts = np.concatenate(parts, axis=1) if parts else np.zeros((3, 0))
    return LocalRisk(at, risks, errors, counts)


def check_kernel(kernel: object) -> None:
    """Raise a TypeError unless `kernel` is a kernel.

    Parameters
    ----------
    kernel : object
        What was passed to define neighbourhoods.

    Examples
    --------
    >>> check_kernel(0.3)
    Traceback (most recent call last):
    TypeError: a neighbourhood must be a kernel, got 0.3. For example RBF(1.0).
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"a neighbourhood must be a kernel, got {kernel!r}. For example RBF(1.0).")


def _weighted(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Return weighted means, standard errors and effective counts; NaN without any weight."""
    with np.errstate(invalid="ignore", divide="ignore"):
        total = weights.sum(axis=1)
        risks = (weights * values).sum(axis=1) / total
        squares = weights**2
        spread = (squares * (values - risks[:, None]) ** 2).sum(axis=1)
        counts = total**2 / squares.sum(axis=1)
        # The factor n / (n - 1): a single effective round gives no standard error.
        errors = np.sqrt(spread * counts / np.maximum(counts - 1.0, 0.0)) / total
    return np.stack([risks, errors, counts])


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """A region of the input space, and the risk in it.

    Parameters
    ----------
    centre : array of float, shape (d,)
        Centre of the neighbourhood.
    risk : float
        Kernel-weighted mean loss around the centre.
    standard_error : float
        Its standard error, as if rounds were independent.
    count : float
        Effective number of rounds.

    Examples
    --------
    >>> Neighbourhood(np.array([0.5]), 0.25, 0.01, 120.0).risk
    0.25
    """

    centre: FloatArray
    risk: float
    standard_error: float
    count: float


def worst_neighbourhood(
    X: ArrayLike,
    losses: ArrayLike,
    kernel: Kernel,
    *,
    min_count: float = 30.0,
    candidates: int = 512,
) -> Neighbourhood:
    """Return the neighbourhood with the highest risk that chance does not explain.

    Candidate centres are observed inputs, spread over the input space. They are ranked by risk
    minus two standard errors, so that a few unlucky rounds do not rank first.

    Parameters
    ----------
    X : array_like of float, shape (n, d) or (n,)
        Input of each round.
    losses : array_like of float, shape (n,)
        Loss of each round.
    kernel : Kernel
        Defines the neighbourhoods.
    min_count : float, default 30.0
        Smallest effective number of rounds; smaller neighbourhoods are ignored.
    candidates : int, default 512
        Number of candidate centres.

    Returns
    -------
    Neighbourhood
        The worst one. Raises a ValueError if none has `min_count` effective rounds.

    Examples
    --------
    >>> from localarc import RBF
    >>> X, losses = [0.0] * 50 + [9.0] * 50, [0.0] * 50 + [1.0, 0.0] * 25
    >>> worst_neighbourhood(X, losses, RBF(1.0)).centre
    array([9.])
    """
    return worst_neighbourhoods(X, losses, kernel, 1, min_count=min_count, candidates=candidates)[0]


def worst_neighbourhoods(
    X: ArrayLike,
    losses: ArrayLike,
    kernel: Kernel,
    number: int = 5,
    *,
    min_count: float = 30.0,
    candidates: int = 512,
) -> list[Neighbourhood]:
    """Return several of the worst neighbourhoods, at a distance from each other.

    They are ranked as in `worst_neighbourhood`. At the centre of one, the kernel of any other is at
    most half its maximum.

    Parameters
    ----------
    X, losses, kernel, min_count, candidates
        As for `worst_neighbourhood`.
    number : int, default 5
        Largest number of neighbourhoods to return.

    Returns
    -------
    list of Neighbourhood
        The worst first.

    Examples
    --------
    >>> from localarc import RBF
    >>> X, losses = [0.0] * 50 + [9.0] * 50, [0.0] * 50 + [1.0, 0.0] * 25
    >>> [place.centre[0].item() for place in worst_neighbourhoods(X, losses, RBF(1.0))]
    [9.0, 0.0]
    """
    local = candidate_risks(X, losses, kernel, candidates)
    return select_worst(local, kernel, number, min_count=min_count)


def candidate_risks(
    X: ArrayLike, losses: ArrayLike, kernel: Kernel, candidates: int = 512
) -> LocalRisk:
    """Return the risk around observed inputs that are spread over the input space."""
    points = validation.points(X)
    return localized_risk(points, losses, kernel, points[spread_centres(points, candidates)])


def select_worst(
    local: LocalRisk, kernel: Kernel, number: int = 5, *, min_count: float = 30.0
) -> list[Neighbourhood]:
    """Return those candidates that `worst_neighbourhoods` selects."""
    lower = local.risks - 2.0 * local.standard_errors
    order = [i for i in np.argsort(-lower) if local.counts[i] >= min_count]
    if not order:
        raise ValueError(
            f"no neighbourhood has {min_count:g} effective rounds. Pass more rounds, a kernel with "
            "a larger length_scale, or a smaller min_count if the function accepts one."
        )
    chosen: list[int] = []
    for i in order:
        near = kernel.matrix(local.centres[i : i + 1], local.centres[chosen])[0]
        peak = kernel.matrix(local.centres[i : i + 1], local.centres[i : i + 1])[0, 0]
        if len(chosen) < number and (near <= peak / 2).all():
            chosen.append(int(i))
    return [local[i] for i in chosen]


def spread_centres(points: FloatArray, number: int) -> IntArray:
    """Return rounds whose inputs cover the input space, by farthest-point sampling."""
    if len(points) <= number:
        return np.arange(len(points))
    scale = points.std(axis=0)
    scaled = (points - points.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    chosen = np.empty(number, dtype=np.int64)
    distance = np.full(len(points), np.inf)
    nearest = int(np.argmin((scaled**2).sum(axis=1)))
    for i in range(number):
        chosen[i] = nearest
        distance = np.minimum(distance, ((scaled - scaled[nearest]) ** 2).sum(axis=1))
        nearest = int(np.argmax(distance))
    return chosen
