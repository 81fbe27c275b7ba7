"""Model outputs: what calibration needs from a classifier, and the small file that ships it.

For each sample: the logits of all classes in descending order, in half precision, and the rank of
the true class. Sets, sizes and confidence follow from these without the names of the classes.
"""

from __future__ import annotations

import hashlib
import io
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc import atomic_write
from localarc.curves import Curves, cumulative_probability, miscoverage, negative_probability
from localarc.validation import FloatArray, IntArray
from localarc_lab.experiments.recorded import recorded

FILE = "outputs.npz.xz"
CALIBRATION = 8000
"""The paper's number of calibration samples."""

_MAX_CLASSES = 256

SCORES = {"probability": negative_probability, "cumulative": cumulative_probability}


@dataclass(frozen=True, eq=False)
class Outputs:
    """A classifier's outputs for n samples.

    Row i of `logits` has the logits of sample i in descending order; `ranks[i]` is the column of
    its true class, `labels[i]` that class. `calibration` is the number of samples that calibrate;
    the others evaluate.
    """

    logits: NDArray[np.float16]
    ranks: IntArray
    labels: IntArray
    calibration: int = CALIBRATION

    def __len__(self) -> int:
        return len(self.ranks)

    @classmethod
    def of(
        cls, logits: NDArray[Any], labels: NDArray[Any], calibration: int | None = None
    ) -> Outputs:
        """From logits (n, classes) and true labels (n,): sorted, then rounded to half precision.

        By default 8,000 samples calibrate, or half of them if there are fewer than 16,000.
        """
        number = min(CALIBRATION, len(logits) // 2) if calibration is None else calibration
        order = np.argsort(-logits, axis=1, kind="stable")
        ranks = np.argmax(order == labels[:, None], axis=1)
        rounded = np.take_along_axis(logits, order, axis=1).astype(np.float16)
        return cls(rounded, ranks.astype(np.int64), labels.astype(np.int64), number)

    @property
    def probabilities(self) -> FloatArray:
        """Softmax of the logits: each row in descending order."""
        p = np.exp(self.logits.astype(np.float64) - self.logits[:, :1])
        p /= p.sum(axis=1, keepdims=True)
        return p

    @property
    def confidence(self) -> FloatArray:
        """The largest probability of each sample."""
        return self.probabilities[:, 0]

    @property
    def accuracy(self) -> float:
        """How often the likeliest class is the true one."""
        return float((self.ranks == 0).mean())

    def take(self, rows: Any, calibration: int | None = None) -> Outputs:
        """Select samples."""
        number = self.calibration if calibration is None else calibration
        return Outputs(self.logits[rows], self.ranks[rows], self.labels[rows], number)

    def curves(self, score: str) -> Curves:
        """Return loss and set size against the threshold, for one of SCORES."""
        table = SCORES[score](self.probabilities)
        truth = table[np.arange(len(self)), self.ranks]
        return miscoverage(truth, label_scores=table)

    def save(self, path: Path) -> None:
        """Write one compressed file, without loss."""
        if self.logits.shape[1] > _MAX_CLASSES:
            raise ValueError(
                f"at most {_MAX_CLASSES} classes can be stored, got {self.logits.shape[1]}."
            )
        buffer = io.BytesIO()
        np.savez(
            buffer,
            logits=self.logits.T,  # similar values side by side compress better
            ranks=self.ranks.astype(np.uint8),
            labels=self.labels.astype(np.uint8),
            calibration=np.array(self.calibration),
        )
        atomic_write.write(path, lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME))

    @classmethod
    def load(cls, path: Path) -> Outputs:
        """Read a file that `save` wrote."""
        try:
            content = io.BytesIO(lzma.decompress(path.read_bytes()))
        except (OSError, lzma.LZMAError) as error:
            raise ValueError(
                f"{path} is not a file of outputs. Write one with "
                "python -m localarc_lab.experiments.fruit.train --out FOLDER."
            ) from error
        with np.load(content, allow_pickle=False) as stored:
            return cls(
                logits=np.ascontiguousarray(stored["logits"].T),
                ranks=stored["ranks"].astype(np.int64),
                labels=stored["labels"].astype(np.int64),
                calibration=int(stored["calibration"]),
            )

    def digest(self) -> str:
        """Return the SHA-256 of everything that results depend on."""
        parts = self.logits.tobytes(), self.ranks.tobytes(), str(self.calibration).encode()
        return hashlib.sha256(b"".join(parts)).hexdigest()


def shipped() -> Outputs:
    """Return the outputs of our own network."""
    return Outputs.load(recorded("fruit", FILE))
