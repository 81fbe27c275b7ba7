"""Every public object in the middle of its life, and the calls that change it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from interrupt_model_cases import MODELS
from interrupts import Case
from localarc import (
    ARC,
    LARC,
    RBF,
    AutoLARC,
    KeepAll,
    LabelSets,
    Mondrian,
    Panel,
    Safeguard,
    replay,
)
from localarc.curves import miscoverage
from localarc.forecasting import Bands
from localarc.many import KeyedStreams
from localarc.many.rows import bucket_table as table
from localarc.monitoring import Monitor
from many.settings import keyed_settings

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1.0, 1.0, (64, 2))
SCORES = np.abs(RANDOM.normal(size=64))
LOSSES = (SCORES > 1.0).astype(float)
CURVES = miscoverage(SCORES)
STARTED = 20  # rounds


# ---- calibrators of one stream ------------------------------------------------------------------


def tickets_of(cal: Any) -> list[int]:
    """The ids of what is pending."""
    if isinstance(cal, Mondrian):
        return [*cal._tickets]
    if isinstance(cal, ARC | LARC):
        return [*cal._pending.tickets]
    return [ticket.id for ticket in cal.pending]


def calibrator_facts(cal: Any) -> Any:
    """Counts and tickets, and the state where it can be made."""
    pending = tickets_of(cal)
    state = None if isinstance(cal, Safeguard) and pending else cal.state()
    if isinstance(cal, Safeguard) and state:
        state = Safeguard.from_state(state, base=new_base(cal.base)).state()
    elif state and not isinstance(cal, Mondrian):
        state = type(cal).from_state(state).state()
    base = vars(cal.base)["seen"] if isinstance(getattr(cal, "base", None), Plain) else None
    return cal.rounds, pending, state, base


def calibrators(
    make: Callable[[], Any], scores: bool = False, groups: bool = False, **more: Any
) -> Case:
    """A calibrator with tickets 1 to 3 pending."""

    def extra(t: int, ask: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = {"groups": "ab"[t % 2]} if groups else {}
        return found | ({"score": SCORES[t]} if scores and not ask else {})

    def told(t: int) -> dict[str, Any]:
        return {"score": SCORES[t]} if scores else {}

    def labels(rounds: slice) -> dict[str, Any]:
        return {"groups": [*"abab"][: rounds.stop - rounds.start]} if groups else {}

    @cache
    def start() -> Any:
        cal = make()
        for t in range(STARTED):
            cal.update(X[t], LOSSES[t], **extra(t))
        for t in range(STARTED, STARTED + 3):
            cal.ask(X[t], **extra(t, True))
        return cal

    def finish(cal: Any) -> None:
        for t, number in enumerate(tickets_of(cal)):
            cal.tell(number, LOSSES[t], **told(t))
        for t in range(40, 44):
            cal.update(X[t], LOSSES[t], **extra(t))

    rows = slice(30, 33)
    many = {"scores": SCORES[rows]} if scores else {}
    calls: dict[str, Callable[[Any], object]] = {
        "update": lambda cal: cal.update(X[30], LOSSES[30], **extra(30)),
        "ask": lambda cal: cal.ask(X[30], **extra(30, True)),
        "tell": lambda cal: cal.tell(tickets_of(cal)[1], 1.0, **told(21)),
        "forget": lambda cal: cal.forget(tickets_of(cal)[1]),
        "partial_fit": lambda cal: cal.partial_fit(X[rows], LOSSES[rows], **many, **labels(rows)),
        "reset": lambda cal: cal.reset(),
        "replay": lambda cal: replay(cal, X[rows], CURVES.take(rows), *labels(rows).values()),
    }
    if groups:
        calls["update, new group"] = lambda cal: cal.update(
            X[30], LOSSES[30], **(extra(30) | {"groups": "new"})
        )
        calls["ask, new group"] = lambda cal: cal.ask(X[30], groups="new")
    return Case(start, calls | more, calibrator_facts, finish)


def with_batches(case: Case) -> Case:
    """AutoLARC and Safeguard have calls for many rounds."""
    rows = slice(30, 33)
    calls = {
        "ask_many": lambda cal: cal.ask_many(X[rows], ["a", "b", "a"]),
        "tell_many": lambda cal: cal.tell_many(tickets_of(cal)[1:], [1.0, 0.0], SCORES[:2]),
        "forget_many": lambda cal: cal.forget_many(tickets_of(cal)[1:]),
        "cover": lambda cal: cal.cover(X[rows], SCORES[rows], ["a", "b", "a"]),
    }
    return Case(case.start, {**case.calls, **calls}, case.facts, case.finish)


class Plain:
    """A base as a user may write it: it counts nothing that we could ask for."""

    alpha = 0.1

    def __init__(self) -> None:
        self.seen: tuple[float, ...] = ()

    def threshold(self, x: Any) -> float:
        return 0.5 + 0.01 * len(self.seen)

    def update(self, x: Any, loss: float) -> Plain:
        self.seen = (*self.seen, loss)
        return self

    def state(self) -> bytes:
        return repr(self.seen).encode()

    def restore(self, data: bytes) -> Plain:
        self.seen = eval(data)
        return self


def new_base(base: Any) -> Any:
    return Plain() if isinstance(base, Plain) else type(base)(**base_settings(base))


def base_settings(base: Any) -> dict[str, Any]:
    kernel = {"kernel": RBF(0.5)} if isinstance(base, LARC) else {}
    return {"alpha": 0.1} | (SMALL if isinstance(base, AutoLARC) else kernel)


SMALL: dict[str, Any] = {"max_bytes": 150_000}


def label_sets() -> Case:
    scores = RANDOM.uniform(size=(64, 3))
    names = ("x", "y", "z")

    @cache
    def start() -> LabelSets:
        cal = LabelSets(0.1, names, **SMALL)
        for t in range(STARTED):
            cal.update(X[t], scores[t], names[t % 3], groups="ab"[t % 2])
        for t in range(3):
            cal.ask(X[t], scores[t], groups="ab"[t % 2])
        return cal

    def finish(cal: LabelSets) -> None:
        for ticket in cal.pending:
            cal.tell(ticket, "y")
        for t in range(40, 44):
            cal.update(X[t], scores[t], names[t % 3])

    calls: dict[str, Any] = {
        "update": lambda cal: cal.update(X[30], scores[30], "x", groups="a"),
        "update, new group": lambda cal: cal.update(X[30], scores[30], "x", groups="new"),
        "ask": lambda cal: cal.ask(X[30], scores[30], groups="a"),
        "tell": lambda cal: cal.tell(tickets_of(cal)[1], "x"),
        "forget": lambda cal: cal.forget(tickets_of(cal)[1]),
        "reset": lambda cal: cal.reset(),
    }
    return Case(start, calls, calibrator_facts, finish)


# ---- bands, monitors -----------------------------------------------------------------------------


def forecasts(now: int, names: str = "ab", steps: int = 3) -> Any:
    at = [(name, now + step) for name in names for step in range(1, steps + 1)]
    series, when = zip(*at, strict=True)
    return pd.DataFrame({"unique_id": series, "ds": when, "yhat": 10.0})


def actuals(now: int, names: str = "ab") -> Any:
    values = 10.0 + 3.0 * X[now % 64, : len(names)]
    return pd.DataFrame({"unique_id": [*names], "ds": now, "y": values})


def bands(joint: bool) -> Case:
    def follow(target: Bands, first: int, last: int) -> None:
        for t in range(first, last):
            target.observe(actuals(t))
            target.predict(forecasts(t))

    @cache
    def start() -> Bands:
        made = Bands([0.8, 0.9], horizon=3, joint=joint)
        made.replay(pd.concat([forecasts(t).assign(cutoff=t, y=10.5) for t in range(-9, -5)]))
        follow(made, 0, 12)
        return made

    def facts(target: Bands) -> Any:
        state = target.state()
        assert Bands.from_state(state).state() == state
        return target.rounds, target.pending, target.series, state

    history = pd.concat([forecasts(t).assign(cutoff=t, y=10.5) for t in range(30, 33)])
    calls: dict[str, Any] = {
        "observe": lambda target: target.observe(actuals(12)),
        "observe many": lambda target: target.observe(pd.concat([actuals(13), actuals(12)])),
        "predict": lambda target: target.predict(forecasts(12)),
        "predict, new series": lambda target: target.predict(forecasts(12, "abcdefgh")),
        "expire": lambda target: target.expire(14),
        "replay": lambda target: target.replay(history),
    }
    return Case(start, calls, facts, lambda target: follow(target, 13, 17))


def monitor() -> Case:
    @cache
    def start() -> Monitor:
        made = Monitor(0.1, window=50)
        for t in range(60):
            made.update(float(t % 3 == 0), at=float(t))
        return made

    def finish(made: Monitor) -> None:
        for t in range(100, 110):
            made.update(1.0, at=float(t))

    calls: dict[str, Any] = {
        "update": lambda made: made.update(1.0, at=70.0),
        "update, nothing lost": lambda made: made.update(0.0, at=70.5),
        "acknowledge": lambda made: made.acknowledge(at=70.0),
    }
    return Case(start, calls, lambda made: repr(made.to_state()), finish)


# ---- many streams -------------------------------------------------------------------------------


def panel(make: Callable[[], Any], auto: bool = False) -> Case:
    known, both = ["a", "b", "a"], ["a", "new", "b", "newer", "new"]

    def told(rows: slice) -> dict[str, Any]:
        return {"scores": SCORES[rows]} if auto else {}

    @cache
    def start() -> Panel:
        made = Panel(make())
        made.update([*"abcabc"], X[:6], LOSSES[:6], **told(slice(6)))
        if auto:
            made.ask(["a", "b"], X[:2])
        return made

    def finish(made: Panel) -> None:
        made.update(["a", "new", "c"], X[9:12], LOSSES[9:12], **told(slice(9, 12)))

    def facts(made: Panel) -> Any:
        state = made.state()
        assert Panel.from_state(state).state() == state
        return made.keys, made.rounds.tolist(), state

    calls: dict[str, Any] = {
        "update": lambda made: made.update(known, X[30:33], LOSSES[30:33], **told(slice(30, 33))),
        "update, new keys": lambda made: made.update(
            both, X[30:35], LOSSES[30:35], **told(slice(30, 35))
        ),
        "replay": lambda made: made.replay(both, X[30:35], CURVES.take(slice(30, 35))),
        "put": lambda made: made.put("a", made.calibrator("b")),
        "put, new key": lambda made: made.put("new", made.calibrator("b")),
        "drop": lambda made: made.drop(["b"]),
    }
    if auto:
        calls["ask"] = lambda made: made.ask(both, X[30:35])
        calls["tell"] = lambda made: made.tell(["b", "a"], [3, 3], [1.0, 0.0], SCORES[:2])
    return Case(start, calls, facts, finish)


def rows(first: int, count: int, timed: bool) -> Any:
    """Asks and their outcomes of some keys, then asks alone; the last key is new each time."""
    keys = [f"{'abc'[i % 3]}" if i < count - 1 else f"new{first}" for i in range(count)]
    asks: dict[str, Any] = {
        "key": keys,
        "id": [f"{first}-{i}" for i in range(count)],
        "kind": ["ask"] * count,
    }
    learn = {**asks, "kind": ["learn"] * count}
    parts = []
    for part, known in ((asks, False), (learn, True)):
        part = part | {"score": [float(SCORES[i]) if known else None for i in range(count)]}
        part |= {name: X[first : first + count, i].tolist() for i, name in enumerate(("x", "z"))}
        if timed:
            part["when"] = pd.to_datetime(
                [60.0 * (first + i + known) for i in range(count)], unit="s"
            )
        parts.append(part)
    last = slice(None, None) if first % 2 else slice(0, count - 2)
    return pa.table({name: [*parts[0][name], *[*parts[1][name]][last]] for name in parts[0]})


def keyed(make: Callable[[], Any], timed: bool, **more: Any) -> Case:
    features: dict[str, Any] = {"features": ["x", "z"]} if not isinstance(make(), ARC) else {}

    @cache
    def start() -> KeyedStreams:
        given: dict[str, Any] = {"time": "when", "delay": timedelta(minutes=2)} if timed else {}
        made = KeyedStreams(
            **keyed_settings(
                calibrator=make(),
                key="key",
                score="score",
                kind="kind",
                id="id",
                **features,
                **given,
                **more,
            )
        )
        made.calibrate(rows(0, 6, timed))
        made.calibrate(rows(10, 6, timed))
        return made

    def facts(made: KeyedStreams) -> Any:
        stored = table.to_table(made._bucket)
        names = stored.column_names
        return made.pending, made.waiting, names, stored.to_pydict(), stored.schema.metadata

    calls: dict[str, Any] = {
        "calibrate": lambda made: made.calibrate(rows(20, 6, timed)),
        "calibrate, bad rows": lambda made: made.calibrate(
            pa.concat_tables([rows(20, 6, timed), rows(0, 4, timed)]), "reject"
        ),
    }
    return Case(start, calls, facts, lambda made: made.calibrate(rows(31, 6, timed), "reject"))


SCORED: dict[str, Any] = {"score_range": (0.2, 1.5)}

CASES: dict[str, Case] = {
    "ARC": calibrators(lambda: ARC(0.1, **SCORED)),
    "LARC": calibrators(lambda: LARC(0.1, RBF(0.5), **SCORED)),
    "LARC in a ball": calibrators(
        lambda: LARC(0.1, RBF(0.5), memory=KeepAll(), radius=0.4, **SCORED)
    ),
    "AutoLARC": with_batches(calibrators(lambda: AutoLARC(0.1, **SMALL), True, True)),
    "LabelSets": label_sets(),
    "Mondrian": calibrators(lambda: Mondrian(lambda: ARC(0.1, **SCORED)), groups=True),
    "Mondrian of LARC": calibrators(lambda: Mondrian(lambda: LARC(0.1, RBF(0.5))), groups=True),
    "Safeguard": with_batches(calibrators(lambda: Safeguard(ARC(0.1), **SMALL), True, True)),
    "Safeguard of LARC": with_batches(
        calibrators(lambda: Safeguard(LARC(0.1, RBF(0.5)), **SMALL), True, True)
    ),
    "Safeguard of AutoLARC": with_batches(
        calibrators(lambda: Safeguard(AutoLARC(0.1, **SMALL), **SMALL), True, True)
    ),
    "Safeguard of yours": with_batches(
        calibrators(lambda: Safeguard(Plain(), **SMALL), True, True)
    ),
    **MODELS,
    "Bands": bands(False),
    "joint Bands": bands(True),
    "Monitor": monitor(),
    "Panel of ARC": panel(lambda: ARC(0.1, **SCORED)),
    "Panel of LARC": panel(lambda: LARC(0.1, RBF(0.5), **SCORED)),
    "pooled Panel": panel(lambda: LARC(0.1, RBF(0.5), memory=KeepAll())),
    "pooled Panel with scores": panel(lambda: LARC(0.1, RBF(0.5), memory=KeepAll(), **SCORED)),
    "Panel of AutoLARC": panel(lambda: AutoLARC(0.1), True),
    "KeyedStreams": keyed(lambda: ARC(0.1), False),
    "KeyedStreams by time": keyed(lambda: ARC(0.1), True, ttl=timedelta(minutes=11), max_pending=3),
    "KeyedStreams of LARC": keyed(lambda: LARC(0.1, RBF(0.5), memory=KeepAll()), True),
    "KeyedStreams of AutoLARC": keyed(lambda: AutoLARC(0.1), False),
}
