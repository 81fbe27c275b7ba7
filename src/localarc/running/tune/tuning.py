"""The result of tuning: what was selected, how it performed, and what to know about it."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from localarc.calibrators.arc import ARC
from localarc.calibrators.base import BaseCalibrator
from localarc.kernels import Kernel
from localarc.running.sweep import Sweep
from localarc.running.tune.evaluation import Evaluation

CAUTION = (
    "The candidates' results were used for the selection, and are optimistic for the selected one: "
    "report the held-out results. They stop being held out once they influence the candidates."
)

NOT_HELD_OUT = (
    "nothing is held out: the selected calibrator has no evaluation of its own, and its results on "
    "the rounds used for the selection are optimistic. Use held_out=0.25."
)


class SelectionWarning(UserWarning):
    """What `tune` selected misses the target, is ARC, or was not evaluated on rounds of its own."""


@dataclass(frozen=True, eq=False)
class Tuning:
    """The result of `tune`.

    Parameters
    ----------
    candidates : tuple of calibrators
        The candidates, new.
    evaluations : tuple of Evaluation
        Their results on the rounds used for the selection.
    selected : int
        The index of the selected candidate.
    held_out : Evaluation or None
        The result of the selected one on the rest of the stream, after running from the first round
        on; None where nothing was held out.
    neighbourhoods : tuple of Kernel
        What neighbourhoods were.
    sweep : Sweep
        The evaluations as a table.

    Examples
    --------
    >>> from localarc import ARC, LARC, RBF, tune
    >>> from localarc.streams import heteroscedastic
    >>> stream = heteroscedastic(2000, seed=0, shift=False)
    >>> found = tune(stream.X, stream.curves, [ARC(0.1), LARC(0.1, RBF(0.2), 4.0)])
    >>> print(found)
    LARC(alpha=0.1, rate=InverseSqrt(eta=4.0), ...)
    Selected from 2 candidates on the first 1,500 rounds.
    The last 500 rounds, held out: risk 0.1040, target 0.1, worst neighbourhood ...
    The target is met: no neighbourhood is above it by more than chance explains.
    """

    candidates: tuple[BaseCalibrator, ...]
    evaluations: tuple[Evaluation, ...]
    selected: int
    held_out: Evaluation | None
    neighbourhoods: tuple[Kernel, ...]
    sweep: Sweep

    @property
    def calibrator(self) -> BaseCalibrator:
        """The selected candidate, new."""
        return copy.deepcopy(self.candidates[self.selected])

    @property
    def verdict(self) -> str:
        """Whether the target is met, on held-out rounds if there are any."""
        return _MET if self._latest.meets_target else _not_met(self._latest)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must not be overlooked; `tune` warns with each of them."""
        found = []
        if self.held_out is None:
            found.append(NOT_HELD_OUT)
        if not self._latest.meets_target:
            found.append(self.verdict)
        if isinstance(self.candidates[self.selected], ARC):
            found.append(_single_threshold(self.candidates))
        return tuple(found)

    @property
    def _latest(self) -> Evaluation:
        """The evaluation to judge by: on held-out rounds if there are any."""
        return self.held_out or self.evaluations[self.selected]

    def __str__(self) -> str:
        chosen = self.evaluations[self.selected]
        count = len(self.candidates)
        lines = [
            repr(self.candidates[self.selected]),
            f"Selected from {count} candidates on the first {chosen.rounds:,} rounds.",
        ]
        if self.held_out is not None:
            rounds = self.held_out.rounds
            lines.append(f"The last {rounds:,} rounds, held out: {self.held_out}.")
        sentences = dict.fromkeys([self.verdict, *self.remarks])
        return "\n".join([*lines, *(text[0].upper() + text[1:] for text in sentences)])


_MET = "the target is met: no neighbourhood is above it by more than chance explains."


def _not_met(result: Evaluation) -> str:
    return (
        f"the target is not met: the worst neighbourhood has a risk of {result.worst:.3f} ± "
        f"{result.worst_error:.3f}, target {result.alpha:g}. Add candidates with shorter length "
        "scales or larger rates, or use more rounds."
    )


def _single_threshold(candidates: tuple[BaseCalibrator, ...]) -> str:
    local = sum(not isinstance(each, ARC) for each in candidates)
    why = (
        f"none of the {local} other candidates was better beyond chance"
        if local
        else "all candidates are ARC"
    )
    return f"ARC was selected, a single threshold for all inputs: {why}."
