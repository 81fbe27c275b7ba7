"""The state of AutoLARC and Safeguard as bytes: settings, the engine's arrays, names of groups."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from localarc import serialization
from localarc.calibrators.auto.groups import label_from_json, label_to_json
from localarc.calibrators.auto.settings import AutoSettings
from localarc.engine.auto.engine import AutoEngine
from localarc.serialization import StateError


@dataclass(frozen=True)
class Stored:
    """What a state contains."""

    settings: AutoSettings
    engine: AutoEngine | None
    labels: list[Hashable]
    base: bytes | None


def encode(
    kind: str,
    settings: AutoSettings,
    engine: AutoEngine | None,
    labels: list[Hashable],
    base: bytes | None,
) -> bytes:
    """Bytes for `decode`."""
    content = {
        "settings": settings.to_json(),
        "dimension": None if engine is None else engine.dimensions,
        "groups": [label_to_json(label) for label in labels],
    }
    arrays = {} if engine is None else engine.arrays()
    if base is not None:
        arrays["base"] = np.frombuffer(base, np.uint8)
    return serialization.encode(kind, content, arrays)


def decode(kind: str, data: bytes, own_base: bool) -> Stored:
    """What the bytes contain, or a StateError."""
    found, content, arrays = serialization.decode(data)
    if found != kind:
        raise StateError(f"the state is of kind {found}, not {kind}. Load it with {found}.load.")
    try:
        settings = AutoSettings.from_json(content["settings"])
        engine = _engine(settings, content["dimension"], arrays, own_base)
        labels = [label_from_json(label) for label in content["groups"]]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise StateError(f"the state is damaged: {error}") from error
    base = arrays.get("base")
    return Stored(settings, engine, labels, None if base is None else base.tobytes())


def _engine(settings: AutoSettings, dimension: Any, arrays: Any, own: bool) -> AutoEngine | None:
    if dimension is None:
        return None
    if not isinstance(dimension, int) or not 0 <= dimension <= 2**12:
        raise StateError(f"its number of features is {dimension!r}.")
    return AutoEngine(settings.rules(own), dimension).restore(arrays)


def check_same_settings(mine: AutoSettings, theirs: AutoSettings) -> None:
    """Raise unless a state was saved with these settings; where no start is stated, it has its."""
    if mine.initial_threshold is None:
        mine = replace(mine, initial_threshold=theirs.initial_threshold)
    if mine == theirs:
        return
    ours, other = mine.to_json(), theirs.to_json()
    differing = {n: value for n, value in other.items() if ours.get(n, value) != value}
    raise StateError(
        f"the state was saved with other settings, {differing} instead of "
        f"{ {name: ours[name] for name in differing} }. Restore it into a calibrator with the same "
        "settings, or use from_state."
    )
