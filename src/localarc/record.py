"""Record: one row per round of a run."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc import atomic_write, serialization
from localarc.calibrators.mondrian import Group
from localarc.guarantees import Evidence
from localarc.validation import FloatArray

_FORMAT = "localarc record 1"


@dataclass(frozen=True, eq=False)
class Record:
    """What was answered in each round, what it cost, how large the set was, and whose it was.

    `sizes` are NaN where the curves do not know them, `groups` is None where there are none.
    `calibrator` says what was run, `evidence` what the curves tell about the assumptions.
    """

    thresholds: FloatArray
    losses: FloatArray
    sizes: FloatArray
    groups: tuple[Group, ...] | None
    alpha: float
    calibrator: str
    evidence: Evidence = field(default_factory=Evidence)

    def __len__(self) -> int:
        return len(self.losses)

    @property
    def risk(self) -> float:
        """The mean loss."""
        return float(self.losses.mean()) if len(self) else float("nan")

    def __repr__(self) -> str:
        return (
            f"Record({len(self)} rounds, mean loss {self.risk:.4f} for a target of {self.alpha}, "
            f"{self.calibrator})"
        )

    def columns(self) -> dict[str, Sequence[Any] | NDArray[Any]]:
        """The table, by column; rounds count from 1, as t does in the paper."""
        table: dict[str, Sequence[Any] | NDArray[Any]] = {"round": np.arange(1, len(self) + 1)}
        if self.groups is not None:
            table["group"] = list(self.groups)
        return table | {"threshold": self.thresholds, "loss": self.losses, "size": self.sizes}

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install 'localarc[pandas]'") from error
        return pandas.DataFrame(self.columns())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of the record to one file, which `Record.load` reads."""
        labels = list(dict.fromkeys(self.groups or ()))
        codes = {label: code for code, label in enumerate(labels)}
        meta = {
            "format": _FORMAT,
            "alpha": self.alpha,
            "calibrator": self.calibrator,
            "evidence": asdict(self.evidence),
            "labels": None
            if self.groups is None
            else [serialization.group_to_json(label) for label in labels],
        }
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            meta=np.array(json.dumps(meta)),
            thresholds=self.thresholds,
            losses=self.losses,
            sizes=self.sizes,
            groups=np.array([codes[group] for group in self.groups or ()], dtype=np.int64),
        )
        atomic_write.write(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Record:
        """The record that `save` wrote."""
        try:
            with np.load(io.BytesIO(serialization.read(path)), allow_pickle=False) as file:
                stored = dict(file)
            meta = json.loads(str(stored["meta"]))
            if meta["format"] != _FORMAT:
                raise KeyError("format")
        except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            if isinstance(error, serialization.StateError):
                raise
            raise serialization.StateError(
                f"{path} is not a localarc record, or it is damaged. Give a file of Record.save."
            ) from error
        labels = (
            None
            if meta["labels"] is None
            else [serialization.group_from_json(x) for x in meta["labels"]]
        )
        evidence = meta["evidence"]
        if evidence["score_range"] is not None:
            evidence["score_range"] = tuple(evidence["score_range"])
        return cls(
            stored["thresholds"],
            stored["losses"],
            stored["sizes"],
            None if labels is None else tuple(labels[code] for code in stored["groups"]),
            meta["alpha"],
            meta["calibrator"],
            Evidence(**evidence),
        )
