"""Views: what is told about a stream. They change nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from localarc.calibrators.running_constant import RunningConstant
from localarc.calibrators.settings import Settings
from localarc.guarantees import Bound, Evidence
from localarc.guarantees.drift import NormSums
from localarc.guarantees.theorems import theorem_a, theorem_b
from localarc.service.api.errors import Refusal
from localarc.service.streams.state import FeatureSum
from localarc.service.streams.stream import Stream, finite
from localarc.validation import FloatArray
from localarc.wire.status import (
    BoundStatus,
    CertificateStatus,
    FeatureRange,
    GroupRisk,
    History,
    HistoryPoint,
    StreamListItem,
    StreamSummary,
    ThresholdMap,
)


def line(stream: Stream) -> StreamListItem:
    """One stream among others."""
    book = stream.book
    return StreamListItem(
        stream=stream.name,
        seq=book.seq,
        rounds=book.rounds,
        risk=book.risk,
        target=book.config.alpha,
        pending=len(book.pending),
        expired=book.expired,
        late=book.late,
        memory_bytes=stream.calibrator.nbytes,
        healthy=stream.healthy,
    )


def summary(stream: Stream) -> StreamSummary:
    """How a stream stands."""
    book = stream.book
    certificate = _certificate(stream)
    return StreamSummary(
        stream=stream.name,
        config=book.config,
        created=book.created,
        seq=book.seq,
        predictions=book.predictions,
        rounds=book.rounds,
        risk=book.risk,
        target=book.config.alpha,
        healthy=certificate.consistent,
        certificate=certificate,
        groups=[
            GroupRisk(group, part.rounds, part.loss_sum / part.rounds)
            for group, part in sorted(book.groups.items())
            if part.rounds
        ],
        pending=len(book.pending),
        oldest_pending=next((each.at for each in book.pending.values()), None),
        expired=book.expired,
        late=book.late,
        memory=repr(stream.calibrator.memory) if book.config.kernel else "none",
        memory_bytes=stream.calibrator.nbytes,
        features=[
            FeatureRange(each.low, each.high, each.total / book.predictions)
            for each in book.features
        ],
    )


def _certificate(stream: Stream) -> CertificateStatus:
    made = stream.certificate()
    return CertificateStatus(
        consistent=stream.healthy,
        consistency_gap=made.identity_gap,
        replay_differs=stream.replay_differs,
        max_pending=made.outstanding,
        bound=_bound(made.bound),
        bounds=[_bound(each) for each in (made.observed, made.theorem_a, made.theorem_b)],
    )


def _bound(bound: Bound) -> BoundStatus:
    told = bound.name, finite(bound.value), bound.holds
    return BoundStatus(*told, list(bound.assumes), list(bound.unmet))


def history(stream: Stream) -> Callable[[], History]:
    """The run so far; what is returned may be finished in any thread."""
    book, settings = stream.book, stream.calibrator.settings
    columns = [list(column) for column in book.series.columns()]
    seq, stride, outstanding = book.seq, book.series.stride, book.outstanding

    def finish() -> History:
        bounds = bounds_in_advance(settings, columns[0], outstanding)
        # The stored series has no bounds: they follow from the settings, after `size`.
        points = [
            HistoryPoint(*row) for row in zip(*columns[:5], bounds, *columns[5:], strict=True)
        ]
        return History(stream.name, seq, settings.alpha, stride, points)

    return finish


def bounds_in_advance(
    settings: Settings, rounds: list[int], outstanding: int
) -> list[float | None]:
    """The better of theorems A and B after so many rounds, which no data can change."""
    if settings.score_range is None:
        return [None] * len(rounds)
    norms = NormSums(settings, settings.score_range)
    trace, evidence = RunningConstant(settings.initial_threshold), Evidence()
    values: list[float | None] = []
    for t in rounds:
        trace.rounds, trace.inverse_rate = t, 1.0 / settings.rate(t)
        both = (
            theorem_a(settings, trace, evidence, outstanding),
            theorem_b(settings, trace, evidence, norms.advance(t), outstanding),
        )
        best = min((bound.value for bound in both if bound.holds), default=math.inf)
        values.append(finite(best))
    return values


def threshold_map(
    stream: Stream, first: int, second: int | None, size: int
) -> Callable[[], ThresholdMap]:
    """The present thresholds over one or two features; may be finished in any thread."""
    book = stream.book
    for feature in (first, first if second is None else second):
        if feature >= book.config.features:
            raise Refusal(
                422,
                f"there is no feature {feature}: they count from 0 to {book.config.features - 1}.",
            )
    if first == second:
        raise Refusal(422, "first and second must be two features: leave second out for one.")
    if not book.features:
        raise Refusal(409, "no input was seen yet, so there is no range to draw.")
    means = [each.total / book.predictions for each in book.features]
    across = _grid(book.features[first], size)
    up = np.empty(0) if second is None else _grid(book.features[second], size)
    function = stream.calibrator.threshold_function  # a copy, which later rounds do not touch
    told = stream.name, book.seq, book.rounds, first, second

    def finish() -> ThresholdMap:
        points = np.tile(np.array(means), (max(1, len(up)), len(across), 1))
        points[:, :, first] = across
        if second is not None:
            points[:, :, second] = up[:, None]
        values = np.asarray(function(points.reshape(-1, len(means)))).reshape(points.shape[:2])
        return ThresholdMap(*told, across.tolist(), up.tolist(), means, values.tolist())

    return finish


def _grid(seen: FeatureSum, size: int) -> FloatArray:
    margin = 0.5 if seen.low == seen.high else 0.0  # one value is drawn as a strip around it
    return np.linspace(seen.low - margin, seen.high + margin, size)
