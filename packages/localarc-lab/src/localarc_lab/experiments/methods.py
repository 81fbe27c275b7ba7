"""Methods: the calibrators that experiments compare, for any target, rate and score range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from localarc.calibrators.arc import ARC
from localarc.calibrators.auto import AutoLARC
from localarc.calibrators.larc import LARC
from localarc.calibrators.mondrian import Mondrian
from localarc.calibrators.role import Calibrator
from localarc.kernels import RBF
from localarc.memory import KeepAll, KeepLast, Memory
from localarc.streams.stream import Stream
from localarc_lab.compare import methods as compared

REGULARIZATION = 1e-4
"""The paper's lambda, in every experiment."""


@dataclass(frozen=True)
class Method:
    """A method: ARC, ARC per group, AutoLARC, L-ARC with a length scale, or one of others.

    Parameters
    ----------
    length_scale : float, optional
        The paper's l, in `exp(-d^2 / l)`. Without it, the method is ARC.
    memory : Memory or str, default KeepAll()
        Memory of L-ARC.
    per_group : bool, default False
        One ARC for each group of rounds (Mondrian).
    auto : bool, default False
        AutoLARC, which gets the target and nothing else: no score range, no rate, no groups.
    other : compare.methods.Method, optional
        A method of `localarc compare`, by name or from a file, with its own defaults.

    Examples
    --------
    >>> Method(0.25).calibrator(0.1, score_range=(0.0, 1.0)).alpha
    0.1
    """

    length_scale: float | None = None
    memory: Memory | str = KeepAll()  # noqa: RUF009 - immutable
    per_group: bool = False
    auto: bool = False
    other: compared.Method | None = None

    def calibrator(
        self,
        alpha: float,
        score_range: tuple[float, float],
        rate: float = 1.0,
        stream: Stream | None = None,
    ) -> Calibrator:
        """Return a new calibrator.

        Parameters
        ----------
        alpha : float
            Target risk.
        score_range : tuple of float
            Smallest and largest score.
        rate : float, default 1.0
            eta in `eta / sqrt(t)`.
        stream : Stream, optional
            The rounds; a rival method gets their number, groups and kind of scores.
        """
        if self.auto:
            return AutoLARC(alpha)
        if self.other is not None:
            if stream is None:
                raise ValueError(f"{self.other.title} requires the stream that it will run on.")
            return self.other.build(compared.Setting(alpha, stream))
        if self.length_scale is not None:
            kernel = RBF.from_paper(self.length_scale)
            return LARC(
                alpha, kernel, rate, REGULARIZATION, score_range=score_range, memory=self.memory
            )
        arc = partial(ARC, alpha, rate, score_range=score_range)
        return Mondrian(arc) if self.per_group else arc()

    def visible(self, stream: Stream) -> Stream:
        """Return what the method sees of a stream: AutoLARC sees no groups, as L-ARC does not.

        Parameters
        ----------
        stream : Stream
            Rounds with or without groups.
        """
        return replace(stream, groups=None) if self.auto else stream

    def without_archive(self) -> Method:
        """Return the method with the same thresholds in less memory, without their average."""
        if not isinstance(self.memory, KeepLast):
            return self
        return replace(self, memory=KeepLast(self.memory.m, archive=False))


def by_length_scale(
    scales: tuple[float, ...],
    memory: Memory | str = KeepAll(),  # noqa: B008 - immutable
) -> dict[str, Method]:
    """Return L-ARC at each length scale, by name.

    Parameters
    ----------
    scales : tuple of float
        Values of the paper's l.
    memory : Memory or str, default KeepAll()
        Memory of each.

    Examples
    --------
    >>> list(by_length_scale((1.0, 0.25)))
    ['L-ARC l=1', 'L-ARC l=0.25']
    """
    return {f"L-ARC l={scale:g}": Method(scale, memory) for scale in scales}
