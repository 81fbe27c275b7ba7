"""Evaluation: calibrate on one stream, then measure online and on held-out rounds.

Every experiment reports three kinds of threshold: *online*, each calibration round at the threshold
that it was given before its loss was known; *average*, the time-averaged threshold function on
held-out rounds; *last*, the threshold function after the last round on held-out rounds. AutoLARC
follows recent scores and has no average, so it has no such row; nor have methods of others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from localarc import replay
from localarc.calibrators.auto import AutoLARC
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.role import Calibrator
from localarc.guarantees import Certificate
from localarc.running.record import Record
from localarc.streams.stream import Stream
from localarc.validation import FloatArray

EVALUATIONS = ("online", "average", "last")


@dataclass(frozen=True, eq=False)
class Calibration:
    """A calibrator after a stream, with the record of the run.

    Parameters
    ----------
    calibrator : Calibrator
        The calibrator, after the last round.
    record : Record
        What happened in each round.

    Examples
    --------
    >>> from localarc import ARC
    >>> from localarc.curves import miscoverage
    >>> stream = Stream("toy", np.zeros((4, 1)), miscoverage([0.1, 0.2, 0.3, 0.4], widths=0.0))
    >>> run = calibrate(ARC(0.5, 1.0, score_range=(0.0, 1.0)), stream)
    >>> sorted(run.thresholds(stream))
    ['average', 'last', 'online']
    """

    calibrator: Calibrator
    record: Record

    def thresholds(self, held_out: Stream) -> dict[str, FloatArray]:
        """Return thresholds by evaluation: online, and on held-out rounds the average and last.

        A calibrator that keeps no average has none here.

        Parameters
        ----------
        held_out : Stream
            Rounds that did not calibrate.
        """
        last = last_thresholds(self.calibrator, held_out)
        average = {}
        if keeps_average(self.calibrator):
            average = {"average": averaged_thresholds(self.calibrator, held_out)}
        return {"online": self.record.thresholds} | average | {"last": last}

    def certificate(
        self, input_bound: float | None = None, audit: bool = True
    ) -> Certificate | None:
        """Return the certificate of the whole run, None if the method has none.

        Parameters
        ----------
        input_bound : float, optional
            The largest norm of an input, for the paper's own bound.
        audit : bool, default True
            Check the calibrator's running sums against the record's losses.
        """
        if not isinstance(self.calibrator, BaseCalibrator):
            return None
        losses = self.record.losses if audit else None
        made: Certificate = self.calibrator.certificate(
            evidence=self.record.evidence, input_bound=input_bound, losses=losses
        )
        return made


def keeps_average(calibrator: Calibrator) -> TypeGuard[BaseCalibrator]:
    """Return whether a calibrator has a time-averaged threshold function.

    Parameters
    ----------
    calibrator : Calibrator
        A calibrator after its stream.

    Examples
    --------
    >>> from localarc import ARC, AutoLARC
    >>> keeps_average(ARC(0.1)), keeps_average(AutoLARC(0.1))
    (True, False)
    """
    return isinstance(calibrator, BaseCalibrator) and not isinstance(calibrator, AutoLARC)


def certified(certificate: Certificate | None) -> dict[str, float | None]:
    """Return what a certificate says about the distance between risk and target, for a row.

    Parameters
    ----------
    certificate : Certificate or None
        The certificate of a run, if it has one.

    Returns
    -------
    dict
        `cert`, the observed bound; `bound`, the guaranteed one, None if an assumption fails.

    Examples
    --------
    >>> from localarc import ARC
    >>> cal = ARC(0.1, 1.0, score_range=(0.0, 1.0)).update(None, 1.0)
    >>> sorted(certified(cal.certificate()))
    ['bound', 'cert']
    """
    if certificate is None:
        return {"cert": None, "bound": None}
    best = certificate.bound
    return {"cert": certificate.observed.value, "bound": best.value if best.holds else None}


def to_json(certificate: Certificate | None) -> dict[str, object]:
    """Return a certificate as JSON values, without its groups.

    Parameters
    ----------
    certificate : Certificate or None
        The certificate of a run, if it has one.

    Examples
    --------
    >>> from localarc import ARC
    >>> to_json(ARC(0.1, 1.0, score_range=(0.0, 1.0)).certificate())["rounds"]
    0
    """
    stated = {} if certificate is None else certificate.to_dict()
    return {name: value for name, value in stated.items() if name != "groups"}


def calibrate(calibrator: Calibrator, stream: Stream) -> Calibration:
    """Run a new calibrator over a stream.

    Parameters
    ----------
    calibrator : Calibrator
        A calibrator that has seen no round; it is updated.
    stream : Stream
        Inputs, curves and groups of the calibration rounds.

    Examples
    --------
    >>> from localarc import ARC
    >>> from localarc.curves import miscoverage
    >>> stream = Stream("toy", np.zeros((2, 1)), miscoverage([0.1, 0.2], widths=0.0))
    >>> len(calibrate(ARC(0.5, 1.0, score_range=(0.0, 1.0)), stream).record)
    2
    """
    return Calibration(calibrator, replay(calibrator, stream.X, stream.curves, stream.groups))


def averaged_thresholds(calibrator: BaseCalibrator, held_out: Stream) -> FloatArray:
    """Return the time-averaged threshold `(1/T) sum_t g_t` at each held-out round.

    Parameters
    ----------
    calibrator : BaseCalibrator
        A calibrator after its stream.
    held_out : Stream
        Rounds that did not calibrate.

    Examples
    --------
    >>> from localarc import ARC
    >>> from localarc.curves import miscoverage
    >>> stream = Stream("toy", np.zeros((2, 1)), miscoverage([0.1, 0.2], widths=0.0))
    >>> run = calibrate(ARC(0.5, 1.0, score_range=(0.0, 1.0)), stream)
    >>> averaged_thresholds(run.calibrator, stream).shape
    (2,)
    """
    return _at(calibrator, calibrator.averaged_threshold_function, held_out)


def last_thresholds(calibrator: Calibrator, held_out: Stream) -> FloatArray:
    """Return the threshold after the last round, at each held-out round.

    Parameters
    ----------
    calibrator : Calibrator
        A calibrator after its stream.
    held_out : Stream
        Rounds that did not calibrate.

    Examples
    --------
    >>> from localarc import ARC
    >>> from localarc.curves import miscoverage
    >>> stream = Stream("toy", np.zeros((2, 1)), miscoverage([0.1, 0.2], widths=0.0))
    >>> last_thresholds(ARC(0.5, initial_threshold=0.3), stream)
    array([0.3, 0.3])
    """
    if isinstance(calibrator, BaseCalibrator):
        return _at(calibrator, calibrator.threshold_function, held_out)
    ask: Callable[..., float] = calibrator.threshold  # it changes nothing, so it can be asked often
    if held_out.groups is None or "groups" not in getattr(calibrator, "learns_from", ()):
        return np.array([ask(x) for x in held_out.X])
    pairs = zip(held_out.X, held_out.groups, strict=True)
    return np.array([ask(x, groups=group) for x, group in pairs])


def state_kilobytes(calibrator: Calibrator) -> float:
    """Return the size of a calibrator's state, NaN if it keeps none.

    Parameters
    ----------
    calibrator : Calibrator
        A calibrator after its stream.

    Examples
    --------
    >>> from localarc import ARC
    >>> state_kilobytes(ARC(0.1)) > 0.0
    True
    """
    state = getattr(calibrator, "state", None)
    return math.nan if state is None else len(state()) / 1000


def held_out_thresholds(calibrator: Calibrator, held_out: Stream) -> FloatArray:
    """Return the averaged thresholds at held-out rounds, or the last where no average is kept.

    Parameters
    ----------
    calibrator : Calibrator
        A calibrator after its stream.
    held_out : Stream
        Rounds that did not calibrate.

    Examples
    --------
    >>> from localarc import AutoLARC
    >>> from localarc.curves import miscoverage
    >>> stream = Stream("toy", np.zeros((2, 1)), miscoverage([0.1, 0.2], widths=0.0))
    >>> held_out_thresholds(calibrate(AutoLARC(0.5), stream).calibrator, stream).shape
    (2,)
    """
    if keeps_average(calibrator):
        return averaged_thresholds(calibrator, held_out)
    return last_thresholds(calibrator, held_out)


def _at(calibrator: BaseCalibrator, function: Callable[..., object], stream: Stream) -> FloatArray:
    """The values of a threshold function, which per-group calibrators evaluate by group."""
    groups = (stream.groups,) if "groups" in calibrator.learns_from and stream.groups else ()
    return np.asarray(function(stream.X, *groups), dtype=np.float64)
