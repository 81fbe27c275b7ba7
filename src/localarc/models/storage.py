"""A Calibrated model as bytes: settings, calibrators, columns and pending rows, but no model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc import serialization
from localarc.calibrators.auto import LabelSets
from localarc.calibrators.role import OnlineCalibrator
from localarc.models.calibration import Calibration
from localarc.models.counts import Counts
from localarc.models.difficulty import needs_fit
from localarc.models.features import Feature
from localarc.models.kinds.intervals import IntervalKind
from localarc.serialization import StateError

_SETTINGS = "coverage", "local", "groups", "kind", "per_class", "cyclic", "classes"


@dataclass(frozen=True)
class Stored:
    """What the bytes contain."""

    settings: dict[str, Any]
    content: Mapping[str, Any]
    arrays: Mapping[str, Any]


def encode(settings: Mapping[str, Any], calibration: Calibration) -> bytes:
    """Bytes for `decode`."""
    states = calibration.levels.state()
    features, kind = calibration.columns.features, calibration.kind
    rows = calibration.pending.rows
    arrays: dict[str, NDArray[Any]] = {
        f"calibrator {i}": np.frombuffer(data, np.uint8) for i, data in enumerate(states)
    }
    arrays["sizes"], arrays["counts"] = calibration.counts.sizes, calibration.counts.sums
    if calibration.recent is not None:
        arrays["recent"] = calibration.recent.scores
    sample, columns = calibration.sample.state()
    arrays |= {f"sample {name}": array for name, array in columns.items()}
    arrays |= _pending_notes(calibration)
    arrays["ids"] = np.array([*rows], np.int64)
    shapes = [list(output.shape) for output, _ in rows.values()]
    arrays["outputs"] = _flat([output for output, _ in rows.values()])
    arrays["thresholds"] = _flat([played for _, played in rows.values()])
    content = {
        "settings": _settings(settings, kind),
        "features": None if features is None else [_to_json(part) for part in features],
        "difficulty": isinstance(kind, IntervalKind) and kind.difficulty is not None,
        "least_scale": kind.least_scale if isinstance(kind, IntervalKind) else 0.0,
        "calibrators": len(states),
        "shapes": shapes,
        "widths": [list(played.shape) for _, played in rows.values()],
        "sample": sample,
    }
    return serialization.encode("Calibrated", content, arrays)


def _settings(settings: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    found = {name: _plain(settings[name]) for name in _SETTINGS}
    cyclic = settings["cyclic"] or {}
    found["cyclic"] = [[_plain(name), _plain(period)] for name, period in cyclic.items()]
    known = getattr(kind, "classes", None)
    found["classes"] = None if known is None else [_plain(name) for name in known]
    return found


def _plain(value: Any) -> Any:
    """A setting as JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def decode(data: bytes) -> Stored:
    """What the bytes contain, or a StateError."""
    kind, content, arrays = serialization.decode(data)
    if kind != "Calibrated":
        raise StateError(f"the state is of kind {kind}, not Calibrated. Load it with {kind}.load.")
    with serialization.damaged_unless_read():
        settings = dict(content["settings"])
        _require({*settings} == {*_SETTINGS}, "its settings are others")
        settings["cyclic"] = dict(settings["cyclic"]) or None
        return Stored(settings, content, arrays)


def restore(calibration: Calibration, stored: Stored) -> None:
    """Continue from what was stored."""
    content, arrays = stored.content, stored.arrays
    with serialization.damaged_unless_read():
        if isinstance(calibration.kind, IntervalKind):
            least = float(content["least_scale"])
            calibration.use(dataclasses.replace(calibration.kind, least_scale=least))
        if content["features"] is not None:
            calibration.columns.features = tuple(_from_json(part) for part in content["features"])
        names = [f"calibrator {i}" for i in range(content["calibrators"])]
        calibration.levels.restore([arrays[name].tobytes() for name in names])
        _require(arrays["sizes"].shape == calibration.counts.sizes.shape, "it has other levels")
        sums = calibration.counts.sums
        calibration.counts = Counts(sums, arrays["sizes"].copy())
        if "sample" in content:
            _restore_sample(calibration, content, arrays)
        else:  # older states: all rows count as shown
            _count_as_shown(calibration)
        outputs = _shaped(arrays["outputs"], content["shapes"])
        played = _shaped(arrays["thresholds"], content["widths"])
        rows = zip(outputs, played, strict=True)
        calibration.pending.rows = dict(zip(arrays["ids"].tolist(), rows, strict=True))
        for cal in calibration.levels.each:
            waiting = [ticket.id for ticket in cal.pending]
            _require(waiting == arrays["ids"].tolist(), "its pending rows are not those asked")


def _pending_notes(calibration: Calibration) -> dict[str, NDArray[Any]]:
    """What is remembered of some pending rows, by id."""
    pending, levels = calibration.pending, len(calibration.levels.coverages)
    unbounded = [row.astype(np.uint8) for row in pending.unbounded.values()]
    return {
        "unbounded ids": np.array([*pending.unbounded], np.int64),
        "unbounded": np.array(unbounded, np.uint8).reshape(-1, levels),
        "sampled": np.array([*pending.sampled.items()], np.int64).reshape(-1, 2),
    }


def _restore_sample(
    calibration: Calibration, content: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Continue with the rows that were shown."""
    _require(arrays["counts"].shape == calibration.counts.sums.shape, "it has other levels")
    calibration.counts = Counts(arrays["counts"].copy(), calibration.counts.sizes)
    if calibration.recent is not None:
        calibration.recent.restore(arrays["recent"])
    prefix = "sample "
    columns = {name[len(prefix) :]: a for name, a in arrays.items() if name.startswith(prefix)}
    calibration.sample.restore(content["sample"], columns)
    full = arrays["unbounded"].astype(bool)
    calibration.pending.unbounded = dict(zip(arrays["unbounded ids"].tolist(), full, strict=True))
    calibration.pending.sampled = dict(arrays["sampled"].tolist())


def _count_as_shown(calibration: Calibration) -> None:
    """Count every row learned so far, at the loss that was charged."""
    each: Sequence[Sequence[OnlineCalibrator | LabelSets]] = calibration.levels.calibrators
    for level, calibrators in enumerate(each):
        found = [cal.certificate() for cal in calibrators]
        if rows := found[0].rounds:
            losses = rows * sum(each.risk for each in found)
            calibration.counts.sums[:2, level] = rows, losses


def check_difficulty(stored: Stored, difficulty: Any) -> None:
    """Raise unless the difficulty can be the one with which the state was saved."""
    if stored.content.get("difficulty") and difficulty is None:
        raise ValueError("the state was saved with a difficulty: pass it as difficulty=...")
    if needs_fit(difficulty):
        raise ValueError(
            "the difficulty is not fitted. Pass the estimator that warm_up fitted, `difficulty_`."
        )


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise StateError(f"the state is damaged: {otherwise}.")


def _flat(parts: list[Any]) -> Any:
    return np.concatenate([np.empty(0), *(np.ravel(part).astype(float) for part in parts)])


def _shaped(flat: Any, shapes: list[list[int]]) -> list[Any]:
    sizes = [int(np.prod(shape)) for shape in shapes]
    ends = np.cumsum([0, *sizes])
    return [
        flat[start:stop].reshape(shape).copy()
        for start, stop, shape in zip(ends[:-1], ends[1:], shapes, strict=True)
    ]


def _to_json(feature: Feature) -> dict[str, Any]:
    categories = feature.categories
    return {
        "column": feature.column,
        "period": feature.period,
        "categories": None if categories is None else [_plain(part) for part in categories],
    }


def _from_json(value: Mapping[str, Any]) -> Feature:
    categories = value["categories"]
    return Feature(
        value["column"], value["period"], None if categories is None else tuple(categories)
    )
