"""Record: the threshold, loss and set size of every round of a run."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localarc import atomic_write, serialization, validation
from localarc.calibrators.mondrian import Group
from localarc.curves import Curves
from localarc.guarantees import Evidence
from localarc.guarantees.verdict import Part, Verdict, verdict
from localarc.measures import Rounds, mean_size
from localarc.tables.frames import Rows
from localarc.tables.to_pandas import pandas_frame
from localarc.validation import FloatArray

if TYPE_CHECKING:
    import pandas

_FORMAT = "localarc record 1"


@dataclass(frozen=True, eq=False)
class Record:
    """Threshold, loss, set size and group of every round of a run; `replay` returns one.

    Parameters
    ----------
    thresholds : array of float, shape (n,)
        Threshold of each round, before its loss was known.
    losses : array of float, shape (n,)
        Loss of each round.
    sizes : array of float, shape (n,)
        Set size of each round; NaN where unknown.
    groups : tuple of hashable or None
        Group of each round; None without groups.
    alpha : float
        Target risk.
    calibrator : str
        The calibrator and its settings, as text.
    evidence : Evidence
        What the curves say about the assumptions of the guarantees.
    warnings : tuple of str, default empty
        What went wrong without an error, each with the number to change and a value to try.
    rows : Rows, optional
        The library and the index of the frame that was replayed, for `to_frame`; not saved.
    size_ratio : float, default NaN
        How many times as large sets were as those of a rolling quantile of the latest 500 scores,
        means without the largest twentieth of either. Where sizes are unknown, thresholds are
        compared, from a lower quantile of these scores. NaN if scores are unknown, or with fewer
        than 100 rounds to compare.

    Examples
    --------
    >>> from localarc import ARC, replay
    >>> from localarc.curves import miscoverage
    >>> record = replay(ARC(alpha=0.1), None, miscoverage([0.5, 0.2, 0.1]))
    >>> len(record), record.losses
    (3, array([1., 0., 0.]))
    """

    thresholds: FloatArray
    losses: FloatArray
    sizes: FloatArray
    groups: tuple[Group, ...] | None
    alpha: float
    calibrator: str
    evidence: Evidence = field(default_factory=Evidence)
    warnings: tuple[str, ...] = ()
    rows: Rows | None = None
    size_ratio: float = math.nan

    def __len__(self) -> int:
        return len(self.losses)

    @property
    def risk(self) -> float:
        """The mean loss; NaN without rounds."""
        return float(self.losses.mean()) if len(self) else float("nan")

    @property
    def mean_size(self) -> float:
        """The mean size of the sets that are bounded; NaN if sizes are unknown."""
        return mean_size(self.sizes)

    @property
    def unbounded(self) -> int:
        """The number of rounds whose set was unbounded, as before anything is known."""
        return int(np.isinf(self.sizes).sum())

    def rounds_of(self, curves: Curves, start: int = 0) -> Rounds:
        """Return the rounds, for `localarc.measures.MEASURES`.

        Parameters
        ----------
        curves : Curves
            The curves of the run.
        start : int, default 0
            Rounds before this one are left out.

        Examples
        --------
        >>> from localarc import ARC, measures, replay
        >>> from localarc.curves import miscoverage
        >>> curves = miscoverage([0.5, 0.2, 0.1])
        >>> rounds = replay(ARC(alpha=0.1), None, curves).rounds_of(curves)
        >>> {measure.name: measure.of(rounds) for measure in measures.MEASURES}["twentieth"]
        1.0
        """
        scores = curves.min_thresholds(self.alpha)
        known = (part[start:] for part in (self.losses, self.thresholds, self.sizes, scores))
        losses, thresholds, sizes, scores = known
        return Rounds(losses, thresholds, sizes, scores, self.alpha, curves.bound)

    @property
    def verdict(self) -> Verdict:
        """Whether the target was met, overall and in every group, and with sets of what size."""
        return verdict(
            self.alpha,
            self.risk,
            len(self),
            parts=self._parts(),
            loss_bound=max(1.0, float(self.losses.max(initial=0.0))),
            misses=bool(np.isin(self.losses, (0.0, 1.0)).all()),
            size_ratio=self.size_ratio,
        )

    def _parts(self) -> list[Part]:
        rounds = validation.rounds_by_group(self.groups or ())
        losses = {group: self.losses[chosen] for group, chosen in rounds.items()}
        return [
            Part(group, len(part), float(part.mean()), float(part.std() / len(part) ** 0.5))
            for group, part in losses.items()
        ]

    def __repr__(self) -> str:
        return (
            f"Record({len(self)} rounds, mean loss {self.risk:.4f}, target {self.alpha}, "
            f"{self.calibrator})"
        )

    def columns(self) -> dict[str, Sequence[Hashable] | NDArray[np.generic]]:
        """Return the record as columns.

        Returns
        -------
        dict
            The columns round (counted from 1, as t in the paper), group (if there are groups),
            threshold, loss and size.

        Examples
        --------
        >>> from localarc import ARC, replay
        >>> from localarc.curves import miscoverage
        >>> list(replay(ARC(alpha=0.1), None, miscoverage([0.5])).columns())
        ['round', 'threshold', 'loss', 'size']
        """
        table: dict[str, Sequence[Hashable] | NDArray[np.generic]] = {
            "round": np.arange(1, len(self) + 1)
        }
        if self.groups is not None:
            table["group"] = list(self.groups)
        return table | {"threshold": self.thresholds, "loss": self.losses, "size": self.sizes}

    def to_frame(self) -> object:
        """Return the record as a frame of the library that the inputs came in, one row per round.

        Returns
        -------
        frame
            The columns of `columns()`, with the index of the inputs in pandas. Several groups of
            one round are joined by commas. Raises a TypeError if the inputs were no frame.

        Examples
        --------
        >>> import pandas as pd
        >>> from localarc import ARC, replay
        >>> from localarc.curves import miscoverage
        >>> rows = pd.DataFrame({"x": [0.5]}, index=["monday"])
        >>> replay(ARC(alpha=0.1), rows, miscoverage([0.5])).to_frame()
                round  threshold  loss  size
        monday      1        0.0   1.0   NaN
        """
        if self.rows is None:
            raise TypeError("the inputs were no frame: use to_pandas() or columns().")
        return self.rows.frame(self._flat_columns())

    def _flat_columns(self) -> dict[str, Any]:
        """Return the columns with one group per round, which every library can store."""
        table = dict(self.columns())
        if any(isinstance(group, list | set | frozenset | dict) for group in self.groups or ()):
            table["group"] = [", ".join(map(str, validation.labels(g))) for g in self.groups or ()]
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Return the record as a pandas DataFrame, one row per round.

        Returns
        -------
        pandas.DataFrame
            The columns of `columns()`, with the index of the inputs if these were pandas'.
            Requires pandas: `pip install 'localarc[pandas]'`.

        Examples
        --------
        >>> from localarc import ARC, replay
        >>> from localarc.curves import miscoverage
        >>> replay(ARC(alpha=0.1), None, miscoverage([0.5])).to_pandas().shape
        (1, 4)
        """
        return pandas_frame(self.columns(), None if self.rows is None else self.rows.index)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record to a file that `Record.load` reads.

        Parameters
        ----------
        path : str or path-like
            File to write, or to replace; a crash leaves the old file or the new one.

        Examples
        --------
        >>> from localarc import ARC, replay
        >>> from localarc.curves import miscoverage
        >>> record = replay(ARC(alpha=0.1), None, miscoverage([0.5]))
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     record.save(f"{folder}/run.record")
        ...     Record.load(f"{folder}/run.record").risk
        1.0
        """
        texts = [json.dumps(_groups_to_json(each)) for each in self.groups or ()]
        codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
        meta = {
            "format": _FORMAT,
            "alpha": self.alpha,
            "calibrator": self.calibrator,
            "evidence": asdict(self.evidence),
            "warnings": self.warnings,
            "size_ratio": None if math.isnan(self.size_ratio) else self.size_ratio,
            "labels": None if self.groups is None else [json.loads(text) for text in codes],
        }
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            meta=np.array(json.dumps(meta)),
            thresholds=self.thresholds,
            losses=self.losses,
            sizes=self.sizes,
            groups=np.array([codes[text] for text in texts], dtype=np.int64),
        )
        atomic_write.write(path, buffer.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Record:
        """Read a record that `save` wrote.

        Parameters
        ----------
        path : str or path-like
            File to read.

        Returns
        -------
        Record
            The record. Raises a `StateError` if the file is not a record or is damaged.

        Examples
        --------
        >>> from localarc import ARC, replay
        >>> from localarc.curves import miscoverage
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     replay(ARC(alpha=0.1), None, miscoverage([0.5])).save(f"{folder}/run.record")
        ...     Record.load(f"{folder}/run.record").alpha
        0.1
        """
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
                f"{path} is not a localarc record, or it is damaged. Pass a file written by "
                "Record.save()."
            ) from error
        labels = None if meta["labels"] is None else [_groups_from_json(x) for x in meta["labels"]]
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
            tuple(meta.get("warnings", ())),  # older records have none
            size_ratio=math.nan if (ratio := meta.get("size_ratio")) is None else ratio,
        )


def _groups_to_json(groups: Any) -> Any:
    """The groups of one round as JSON: one, or several with their weights."""
    if isinstance(groups, dict):
        return {"weights": [[serialization.group_to_json(g), w] for g, w in groups.items()]}
    if isinstance(groups, list | set | frozenset):
        return {"several": [serialization.group_to_json(group) for group in groups]}
    return serialization.group_to_json(groups)


def _groups_from_json(value: Any) -> Any:
    """What `_groups_to_json` turned into JSON; a set becomes a list."""
    if isinstance(value, dict) and "weights" in value:
        return {serialization.group_from_json(group): w for group, w in value["weights"]}
    if isinstance(value, dict) and "several" in value:
        return [serialization.group_from_json(group) for group in value["several"]]
    return serialization.group_from_json(value)
