"""Read-only operations. They change nothing.

Plain functions run on the writer's thread, which owns the streams; what takes longer is left to the
`response` of a copy, which runs in another thread. Coroutines run in the event loop.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from localarc.adaptive.running_constant import RunningConstant
from localarc.adaptive.settings import Settings
from localarc.guarantees import Bound, Certificate, Evidence
from localarc.guarantees.assumptions import Lateness
from localarc.guarantees.drift import NormSums
from localarc.guarantees.theorems import theorem_a, theorem_b
from localarc.validation import FloatArray
from localarc_client.wire.health import Health
from localarc_client.wire.quarantine import QuarantineList
from localarc_client.wire.status import (
    Alive,
    BoundStatus,
    CertificateStatus,
    FeatureRange,
    GroupRisk,
    History,
    HistoryPoint,
    Ready,
    StreamListItem,
    StreamSummary,
    ThresholdMap,
    VerdictStatus,
)
from localarc_service.api.auth import ANYONE, Token
from localarc_service.app_state import AppState
from localarc_service.errors import ApiError
from localarc_service.stored.format import FeatureSum
from localarc_service.streams.bounds import above_and_below, finite
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.state import Point
from localarc_service.streams.stream import Stream
from localarc_service.streams.watch import LONG_AGO, SEVERITY, Moment, Watch

MAX_GROUPS_HEALTH = 32
"""How many groups the summary of a stream lists with their health."""

# ---- streams ---------------------------------------------------------------------------------


def quarantine(manager: StreamManager, token: Token = ANYONE) -> QuarantineList:
    """List the streams whose stored data is damaged, sorted by name."""
    found = sorted(manager.quarantined.items())
    return QuarantineList([each.status() for name, each in found if token.permits(name)])


def list_item(stream: Stream, moment: Moment) -> StreamListItem:
    """A stream in the list of streams."""
    state = stream.state
    return StreamListItem(
        stream=stream.name,
        seq=state.seq,
        rounds=state.rounds,
        risk=state.risk,
        target=state.config.alpha,
        pending=len(state.pending),
        expired=state.expired,
        late=state.late,
        memory_bytes=stream.method.memory_bytes,
        consistent=stream.consistent,
        verdict=_verdict(stream),
        warnings=list(stream.warnings),
        health=stream.watch.health(stream.watch.worst_part, moment),
        labels=state.config.labels,
    )


def _verdict(stream: Stream) -> VerdictStatus:
    verdict = stream.verdict
    return VerdictStatus(verdict.state, verdict.text)


def summary(manager: StreamManager, stream: str) -> StreamSummary:
    """Stream summary."""
    return summarize(manager.stream(stream), manager.moment())


def summarize(stream: Stream, moment: Moment = LONG_AGO) -> StreamSummary:
    """The status of a stream; without a moment, nothing is stale."""
    state, (worst, overall, *groups) = stream.state, _healths(stream.watch, moment)
    certificate = _certificate(stream)
    return StreamSummary(
        stream=stream.name,
        config=state.config,
        created=state.created,
        seq=state.seq,
        predictions=state.predictions,
        rounds=state.rounds,
        risk=state.risk,
        target=state.config.alpha,
        consistent=certificate.consistent,
        verdict=_verdict(stream),
        warnings=list(stream.warnings),
        certificate=certificate,
        groups=_groups(stream),
        pending=len(state.pending),
        oldest_pending=next((pending.at for pending in state.pending.values()), None),
        expired=state.expired,
        late=state.late,
        memory=stream.method.memory,
        memory_bytes=stream.method.memory_bytes,
        features=[
            FeatureRange(feature.low, feature.high, feature.total / state.predictions)
            for feature in state.features
        ],
        health=worst,
        overall=overall,
        groups_health=groups[:MAX_GROUPS_HEALTH],
        groups_left_out=len(groups[MAX_GROUPS_HEALTH:]),
        uninformed=state.uninformed,
    )


def _healths(watch: Watch, moment: Moment) -> list[Health]:
    """The worst health of all parts, that of all rounds, and those of groups, the worst first."""
    overall, *groups = (watch.health(part, moment) for part in watch.parts)
    groups.sort(key=_badness)
    return [min([overall, *groups], key=_badness), overall, *groups]


def _badness(health: Health) -> tuple[int, float]:
    """The worst is the smallest: first the status, then how far recent losses exceed the target."""
    return SEVERITY[health.status], health.target - (health.recent_risk or 0.0)


def _certificate(stream: Stream) -> CertificateStatus:
    certificate = stream.certificate()
    tightest, bound = certificate.tightest, stream.method.bound(certificate)
    paper = certificate.paper if isinstance(certificate, Certificate) else None  # never the best
    bounds = [each for each in certificate.bounds if each is not paper]
    if tightest is not None and tightest not in bounds:
        bounds.append(tightest)
    bounds.sort(key=lambda each: each != tightest)  # keeps the order of the others
    return CertificateStatus(
        consistent=stream.consistent,
        consistency_gap=certificate.consistency_gap,
        replay_differs=stream.replay_differs,
        max_pending=stream.lateness.pending,
        max_delay=stream.state.max_delay,
        lateness_known=stream.lateness.measured,
        bound=_bound(bound),
        tightest=None if tightest is None else _bound(tightest),
        bounds=[_bound(bound) for bound in bounds],
    )


def _bound(bound: Bound) -> BoundStatus:
    return BoundStatus(
        name=bound.name,
        value=finite(bound.value),
        holds=bound.holds,
        assumes=list(bound.assumes),
        unmet=list(bound.unmet),
        side=bound.side,
    )


def _groups(stream: Stream) -> list[GroupRisk]:
    """The risk of each group, with what is guaranteed for it."""
    guaranteed = stream.certificate().groups
    found = []
    for name, group in sorted(stream.state.groups.items()):
        if group.rounds:
            risk = group.loss_sum / group.rounds
            sides = above_and_below(guaranteed.get(name), risk - stream.state.config.alpha)
            pending = stream.method.max_pending(name)
            found.append(GroupRisk(name, group.rounds, risk, *sides, pending))
    return found


def export_state(manager: StreamManager, stream: str) -> bytes:
    """Export the calibrator's state, in the format that `from_state` of its class reads."""
    state: bytes = manager.stream(stream).calibrator.state()
    return state


# ---- the history -----------------------------------------------------------------------------


class Copy(ABC):
    """What a response is made from, outside the writer's thread."""

    @abstractmethod
    def response(self) -> object:
        """The response."""


@dataclass(frozen=True)
class HistoryCopy(Copy):
    """A copy of the history, which later rounds do not change."""

    stream: str
    seq: int
    stride: int
    points: list[Point]
    target: float
    settings: Settings | None
    outstanding: int
    broken_since: float

    def response(self) -> History:
        """The history, with the bounds that hold in advance."""
        bounds = self._bounds()
        points = [
            HistoryPoint(**point._asdict(), bound=bound)
            for point, bound in zip(self.points, bounds, strict=True)
        ]
        return History(self.stream, self.seq, self.target, self.stride, points)

    def _bounds(self) -> list[float | None]:
        """The bound beside each point; none from where an assumption was seen to fail."""
        if self.settings is None:
            return [None] * len(self.points)
        rounds = [point.rounds for point in self.points]
        bounds = bounds_in_advance(self.settings, rounds, self.outstanding)
        broken = self.broken_since
        for i, (point, bound) in enumerate(zip(self.points, bounds, strict=True)):
            off = abs((point.risk or 0.0) - self.target)
            if point.risk is not None and bound is not None and off > bound * (1 + 1e-9):
                broken = min(broken, point.rounds)  # passed, so an assumption must be false
            if point.rounds >= broken:
                bounds[i] = None
        return bounds


def history(manager: StreamManager, stream: str) -> HistoryCopy:
    """Downsampled history."""
    found = manager.stream(stream)
    state = found.state
    return HistoryCopy(
        stream=stream,
        seq=state.seq,
        stride=state.history.stride,
        points=state.points(),
        target=state.config.alpha,
        settings=found.method.settings,
        outstanding=state.outstanding,
        broken_since=found.method.broken_since,
    )


def bounds_in_advance(
    settings: Settings, rounds: list[int], outstanding: int
) -> list[float | None]:
    """The better of theorems A and B after each number of rounds; it does not depend on data.

    With a floor, how far it will lift the constant does: then there is none.
    """
    if settings.score_range is None or settings.floor is not None:
        return [None] * len(rounds)
    norms = NormSums(settings, settings.score_range, settings.start)
    constant, evidence, late = RunningConstant(settings.start), Evidence(), Lateness(outstanding)
    values: list[float | None] = []
    for t in rounds:
        constant.rounds, constant.inverse_rate = t, 1.0 / settings.rate(t)
        both = (
            theorem_a(settings, constant, evidence, late),
            theorem_b(settings, constant, evidence, norms.advance(t), late),
        )
        best = min((bound.value for bound in both if bound.holds), default=math.inf)
        values.append(finite(best))
    return values


# ---- the threshold map -----------------------------------------------------------------------


@dataclass(frozen=True)
class MapCopy(Copy):
    """A copy of the threshold function and the grid to evaluate it on."""

    stream: str
    seq: int
    rounds: int
    first: int
    second: int | None
    first_values: FloatArray
    second_values: FloatArray
    means: list[float]
    function: Callable[[FloatArray], FloatArray]

    def response(self) -> ThresholdMap:
        """The thresholds on the grid, all other features at their means."""
        rows = max(1, len(self.second_values))
        points = np.tile(np.array(self.means), (rows, len(self.first_values), 1))
        points[:, :, self.first] = self.first_values
        if self.second is not None:
            points[:, :, self.second] = self.second_values[:, None]
        thresholds: FloatArray = np.asarray(self.function(points.reshape(-1, len(self.means))))
        if not np.isfinite(thresholds).all():
            raise ApiError(409, "too few scores are known for a threshold: report more losses.")
        return ThresholdMap(
            stream=self.stream,
            seq=self.seq,
            rounds=self.rounds,
            first=self.first,
            second=self.second,
            first_values=self.first_values.tolist(),
            second_values=self.second_values.tolist(),
            others=self.means,
            thresholds=[row.tolist() for row in thresholds.reshape(points.shape[:2])],
        )


def threshold_map(
    manager: StreamManager,
    stream: str,
    first: int = 0,
    second: int | None = None,
    size: int = 32,
) -> MapCopy:
    """Current threshold as a function of one or two features."""
    found = manager.stream(stream)
    state = found.state
    for feature in (first, first if second is None else second):
        if feature >= state.config.features:
            raise ApiError(
                422,
                f"there is no feature {feature}: the stream has {state.config.features}, counted "
                "from 0.",
            )
    if first == second:
        raise ApiError(422, "first and second must differ: omit second for a map of one feature.")
    if state.config.method in ("mondrian", "gate"):
        raise ApiError(
            422, f"thresholds of method {state.config.method} depend on the group, not on features."
        )
    if not state.features:
        raise ApiError(409, "the stream has no predictions yet, so the range is unknown.")
    return MapCopy(
        stream=stream,
        seq=state.seq,
        rounds=state.rounds,
        first=first,
        second=second,
        first_values=_grid(state.features[first], size),
        second_values=np.empty(0) if second is None else _grid(state.features[second], size),
        means=[feature.total / state.predictions for feature in state.features],
        function=found.calibrator.threshold_function,
    )


def _grid(feature: FeatureSum, size: int) -> FloatArray:
    margin = 0.5 if feature.low == feature.high else 0.0  # a single value becomes a strip
    return np.linspace(feature.low - margin, feature.high + margin, size)


# ---- events, health and metrics --------------------------------------------------------------


async def events(
    app: AppState,
    stream: str,
    after: int | None = None,
    last_event_id: int | None = None,
) -> AsyncIterator[bytes]:
    """Server-sent events; resumes after `Last-Event-ID` or `after`."""
    seq = await app.writer.ask(lambda manager: manager.stream(stream).state.seq)
    last = after if last_event_id is None else last_event_id
    return await app.event_bus.subscribe(stream, seq, last)


async def alive(app: AppState) -> Alive:
    """The process is alive."""
    return Alive(True)


async def ready(app: AppState) -> tuple[Literal[200, 503], Ready]:
    """Whether the service accepts requests."""
    reason = app.writer.unavailable_reason
    if reason:
        return 503, Ready(False, f"{reason}.", 0, 0)
    counts = await app.writer.ask(
        lambda manager: (len(manager.streams), len(manager.read_only), len(manager.quarantined))
    )
    return 200, Ready(True, "ready to accept requests.", *counts)


async def metrics(app: AppState) -> str:
    """Prometheus metrics."""
    if app.writer.ready:
        await app.metrics.read(app.writer.ask)
    return app.metrics.text(not app.writer.unavailable_reason, len(app.event_bus)).decode()
