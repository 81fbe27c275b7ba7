"""The settings of AutoLARC and Safeguard, checked once."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from localarc import validation
from localarc.engine.auto.engine import Rules
from localarc.engine.auto.layout import COLUMNS

BYTES = 9_000_000  # of the state, by default
MOST_PENDING = 1_000_000  # tickets, by default
_PROMISES = ("both", "at most")
_NODE_BYTES = 8 * COLUMNS + 8  # with its key
_MIN_SLOTS = 2**8
_MAX_SLOTS = 2**24


@dataclass(frozen=True)
class AutoSettings:
    """What stays the same during a run."""

    alpha: float
    limits: tuple[float | None, float | None]
    promise: str
    evenness: float
    loss_bound: float
    unit: float | None
    initial_threshold: float | None
    max_bytes: int
    max_pending: int = field(default=MOST_PENDING, compare=False)  # nothing learned depends on it

    @property
    def two_sided(self) -> bool:
        """Whether the risk is kept from falling below the target, too."""
        return self.promise == "both"

    @property
    def start(self) -> float:
        """The threshold before anything is known: infinite, the full set, unless one is stated."""
        return math.inf if self.initial_threshold is None else self.initial_threshold

    def rules(self, own_base: bool) -> Rules:
        """The settings as the engine reads them."""
        floor, ceiling = self.limits
        return Rules(
            alpha=self.alpha,
            loss_bound=self.loss_bound,
            floor=-math.inf if floor is None else floor,
            ceiling=math.inf if ceiling is None else ceiling,
            two_sided=self.two_sided,
            evenness=self.evenness,
            unit=1.0 if self.unit is None else self.unit,
            initial_threshold=self.start,
            slots=_slots(self.max_bytes),
            own_base=own_base,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values = asdict(self) | {"limits": list(self.limits)}
        if self.max_pending == MOST_PENDING:
            del values["max_pending"]
        return values

    @staticmethod
    def from_json(content: dict[str, Any]) -> AutoSettings:
        """The settings that `to_json` described."""
        return checked_settings(**{**content, "limits": tuple(content["limits"])})

    def describe(self) -> str:
        """The settings that differ from the defaults, as they are written in a call."""
        shown = [f"alpha={self.alpha}"]
        for name, default in _DEFAULTS.items():
            value = getattr(self, name)
            if value != default:
                shown.append(f"{name}={value!r}")
        return ", ".join(shown)


_DEFAULTS: dict[str, Any] = {
    "limits": (None, None),
    "promise": "both",
    "evenness": 1.0,
    "loss_bound": 1.0,
    "unit": None,
    "initial_threshold": None,
    "max_bytes": BYTES,
    "max_pending": MOST_PENDING,
}


def checked_settings(
    alpha: float,
    limits: tuple[float | None, float | None],
    promise: str,
    evenness: float,
    loss_bound: float,
    unit: float | None,
    initial_threshold: float | None,
    max_bytes: int,
    max_pending: int = MOST_PENDING,
) -> AutoSettings:
    """The settings, if they make sense."""
    bound = validation.positive("loss_bound", loss_bound, "It is the largest possible loss.")
    if not isinstance(promise, str) or promise not in _PROMISES:
        raise ValueError(
            f'promise must be "both" or "at most", got {promise!r}. With "at most" the risk may '
            "stay below alpha."
        )
    floor, ceiling = _checked_limits(limits)
    return AutoSettings(
        alpha=validation.target(alpha, bound),
        limits=(floor, ceiling),
        promise=promise,
        evenness=validation.positive(
            "evenness", evenness, "1 is the default; at most 4 is useful."
        ),
        loss_bound=bound,
        unit=None if unit is None else validation.positive("unit", unit, _UNIT),
        initial_threshold=(
            None
            if initial_threshold is None
            else validation.finite("initial_threshold", initial_threshold, _START)
        ),
        max_bytes=_checked_bytes(max_bytes),
        max_pending=checked_max_pending(max_pending),
    )


_START = "It is the threshold before the first score; None for the full set."
_UNIT = "It is a typical difference between scores, for streams without scores."


def _checked_limits(limits: Any) -> tuple[float | None, float | None]:
    hint = "Pass (floor, ceiling), with None for a side without a limit, e.g. (0.0, None)."
    validation.require_order("limits", limits)
    try:
        floor, ceiling = limits
    except (TypeError, ValueError) as error:
        raise ValueError(f"limits must be a pair, got {limits!r}. {hint}") from error
    low = None if floor is None else validation.finite("limits", floor, hint)
    high = None if ceiling is None else validation.finite("limits", ceiling, hint)
    if low is not None and high is not None and low >= high:
        raise ValueError(f"limits must be ascending, got {limits!r}. {hint}")
    return low, high


def _checked_bytes(max_bytes: Any) -> int:
    smallest = _MIN_SLOTS * _NODE_BYTES
    hint = f"It bounds the table of nodes; each takes {_NODE_BYTES} bytes."
    return validation.integer("max_bytes", max_bytes, smallest, hint)


def checked_max_pending(most: Any) -> int:
    """How many tickets may be pending."""
    return validation.integer("max_pending", most, 1, "It is how many tickets may be pending.")


def _slots(max_bytes: int) -> int:
    """The largest power of two whose table fits."""
    return int(min(2 ** int(math.log2(max_bytes / _NODE_BYTES)), _MAX_SLOTS))
