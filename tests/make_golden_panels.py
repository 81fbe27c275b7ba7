"""What is in golden folders of panels and safeguards, which `make_golden.py` writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hardware import rounds_alike
from localarc import (
    ARC,
    LARC,
    RBF,
    AutoLARC,
    Dictionary,
    KeepAll,
    KeepLast,
    Laplace,
    Lattice,
    Panel,
    Safeguard,
)
from localarc.many.panel.kinds import is_auto
from make_golden_models import Case, wave

KEYS: list[str | int] = ["ann", 7, "eve"]
ROUNDS = 90
X, SCORES = wave(ROUNDS, 53).reshape(-1, 1), wave(ROUNDS, 37)


# ---- panels ----------------------------------------------------------------------------------


def learn_rows(panel: Panel, start: int, stop: int) -> None:
    for t in range(start, stop):
        key, x = [KEYS[t * t % 7 % 3]], X[t : t + 1]
        losses = (SCORES[t : t + 1] > panel.thresholds(key, x)).astype(float)
        panel.update(key, x, losses, SCORES[t : t + 1] if is_auto(panel.prototype) else None)


def panel_of(prototype: Any) -> Panel:
    panel = Panel(prototype)
    learn_rows(panel, 0, 60)
    if is_auto(prototype):
        panel.ask(KEYS, X[60:63])  # stays open
    return panel


def later_panel(panel: Panel) -> list[float]:
    if is_auto(panel.prototype):
        each: list[Any] = [panel.calibrator(key) for key in KEYS]
        tickets = [cal.pending[0] for cal in each]
        panel.tell(KEYS, tickets, [1.0, 0.0, 1.0], [0.9, 0.1, 0.8])
    learn_rows(panel, 63, ROUNDS)
    return [float(each) for key in KEYS for each in panel.thresholds([key] * 5, X[:5])]


# ---- safeguards ------------------------------------------------------------------------------


def quantile(x: Any) -> float:
    """A base that learns nothing."""
    return 0.5 + 0.25 * float(x[0])


def learn_rounds(cal: Safeguard, start: int, stop: int) -> None:
    for t in range(start, stop):
        group = "even" if t % 2 else "odd"
        loss = float(SCORES[t] > cal.threshold(X[t], group))
        cal.update(X[t], loss, SCORES[t], groups=group)


def safeguard(base: Callable[[], Any]) -> Safeguard:
    made = Safeguard(base(), alpha=0.1)
    learn_rounds(made, 0, 60)
    return made


def later_safeguard(cal: Safeguard) -> list[float]:
    ticket = cal.ask(X[60], "odd")
    learn_rounds(cal, 61, ROUNDS)
    cal.tell(ticket, 1.0, SCORES[60])
    return [float(cal.threshold(x, group)) for x in X[:5] for group in ("even", "odd")]


def local() -> LARC:
    return LARC(0.1, RBF(0.5), memory=KeepAll())


PROTOTYPES: dict[str, Any] = {
    "arc": ARC(0.1, 0.5, score_range=(0.0, 2.0), floor=0.05),
    "larc_keep_all": LARC(0.2, Laplace(0.8), memory=KeepAll(), clip=0.5),
    "larc_window": LARC(0.1, RBF(0.4), memory=KeepLast(7, archive=False)),
    "larc_lattice": LARC(0.1, RBF(0.5), memory=Lattice(1e-6)),
    "larc_dictionary": LARC(0.1, RBF(0.6), memory=Dictionary(1e-2, 16)),
    "auto": AutoLARC(0.1),
}
CASES = {
    f"panel_{name}": Case(
        partial(panel_of, prototype), Panel.load, later_panel, rounds_alike(prototype)
    )
    for name, prototype in PROTOTYPES.items()
} | {
    "safeguard_larc": Case(
        lambda: safeguard(local),
        lambda path: Safeguard.from_state(path.read_bytes(), local()),
        later_safeguard,
    ),
    "safeguard_function": Case(
        lambda: safeguard(lambda: quantile),
        lambda path: Safeguard.from_state(path.read_bytes(), quantile),
        later_safeguard,
        exact=True,
    ),
}
