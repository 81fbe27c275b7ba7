"""Evaluation: calibrate on one stream, then measure online and on held-out rounds.

Every experiment reports three kinds of threshold: *online*, each calibration round at the threshold
that it was given before its loss was known; *average*, the time-averaged threshold function on
held-out rounds; *last*, the threshold function after the last round on held-out rounds. AutoLARC
follows recent scores and has no average, so it has no such row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localarc._replay import replay
from localarc.calibrators.auto import AutoLARC
from localarc.calibrators.base import BaseCalibrator
from localarc.guarantees import Certificate
from localarc.record import Record
from localarc.streams.stream import Stream
from localarc.validation import FloatArray

EVALUATIONS = ("online", "average", "last")


@dataclass(frozen=True, eq=False)
class Calibration:
    """A calibrator after a stream, with the record of the run.

    Parameters
    ----------
    calibrator : BaseCalibrator
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

    calibrator: BaseCalibrator
    record: Record

    def thresholds(self, held_out: Stream) -> dict[str, FloatArray]:
        """Return thresholds by evaluation: online, and on held-out rounds the average and last.

        A calibrator that keeps no average has none here.

        Parameters
        ----------
        held_out : Stream
            Rounds that did not calibrate.
        """
        last = _at(self.calibrator, self.calibrator.threshold_function, held_out)
        average = {}
        if keeps_average(self.calibrator):
            average = {"average": averaged_thresholds(self.calibrator, held_out)}
        return {"online": self.record.thresholds} | average | {"last": last}

    def certificate(self, input_bound: float | None = None, audit: bool = True) -> Certificate:
        """Return the certificate of the whole run.

        Parameters
        ----------
        input_bound : float, optional
            The largest norm of an input, for the paper's own bound.
        audit : bool, default True
            Check the calibrator's running sums against the record's losses.
        """
        losses = self.record.losses if audit else None
        return self.calibrator.certificate(
            evidence=self.record.evidence, input_bound=input_bound, losses=losses
        )


def keeps_average(calibrator: BaseCalibrator) -> bool:
    """Return whether a calibrator has a time-averaged threshold function.

    Parameters
    ----------
    calibrator : BaseCalibrator
        A calibrator after its stream.

    Examples
    --------
    >>> from localarc import ARC, AutoLARC
    >>> keeps_average(ARC(0.1)), keeps_average(AutoLARC(0.1))
    (True, False)
    """
    return not isinstance(calibrator, AutoLARC)


def certified(certificate: Certificate) -> dict[str, float | None]:
    """Return what a certificate says about the distance between risk and target, for a row.

    Parameters
    ----------
    certificate : Certificate
        The certificate of a run.

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
    best = certificate.bound
    return {"cert": certificate.observed.value, "bound": best.value if best.holds else None}


def to_json(certificate: Certificate) -> dict[str, object]:
    """Return a certificate as JSON values, without its groups.

    Parameters
    ----------
    certificate : Certificate
        The certificate of a run.

    Examples
    --------
    >>> from localarc import ARC
    >>> to_json(ARC(0.1, 1.0, score_range=(0.0, 1.0)).certificate())["rounds"]
    0
    """
    return {name: value for name, value in certificate.to_dict().items() if name != "groups"}


def calibrate(calibrator: BaseCalibrator, stream: Stream) -> Calibration:
    """Run a new calibrator over a stream.

    Parameters
    ----------
    calibrator : BaseCalibrator
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


def held_out_thresholds(calibrator: BaseCalibrator, held_out: Stream) -> FloatArray:
    """Return the averaged thresholds at held-out rounds, or the last where no average is kept.

    Parameters
    ----------
    calibrator : BaseCalibrator
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
    return _at(calibrator, calibrator.threshold_function, held_out)


def _at(calibrator: BaseCalibrator, function: Callable[..., object], stream: Stream) -> FloatArray:
    """The values of a threshold function, which per-group calibrators evaluate by group."""
    groups = (stream.groups,) if "groups" in calibrator.learns_from and stream.groups else ()
    return np.asarray(function(stream.X, *groups), dtype=np.float64)
