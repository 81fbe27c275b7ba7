"""Model outputs: what calibration needs from a network, and the small file that ships it.

For each image: a loss curve (false negatives against the threshold), a size curve (share of the
image against the threshold) and features; no picture, no mask, no weights.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localarc import atomic_write
from localarc.curves import Curves, from_table
from localarc.validation import FloatArray, IntArray
from localarc_lab.experiments.polyps.images import SOURCES
from localarc_lab.experiments.recorded import recorded

if TYPE_CHECKING:
    from localarc_lab.experiments.polyps.examples import Example

LOGITS: FloatArray = np.arange(127, -129, -1) / 10
"""The thresholds, equally spaced in logits, from nearly empty masks to nearly full ones."""

SPACES = ("probability", "logit")
FILE = "outputs.npz"
_LEVELS = 10_000


@dataclass(frozen=True, eq=False)
class Outputs:
    """Curves, features and sources of n images.

    Column k of `losses` and `sizes` is the mask of all pixels whose logit is at least `LOGITS[k]`.
    `truth` is the fraction of each image that is polyp. `excluded` counts images without a true
    pixel, for which the loss is undefined; they are not among the n. `examples` are pictures to
    show, if any.
    """

    losses: FloatArray
    sizes: FloatArray
    truth: FloatArray
    features: FloatArray
    sources: IntArray
    trained: NDArray[np.bool_]
    names: tuple[str, ...]
    excluded: int = 0
    examples: tuple[Example, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.sources)

    def take(self, rows: IntArray) -> Outputs:
        """Select images, without examples."""
        return Outputs(
            self.losses[rows],
            self.sizes[rows],
            self.truth[rows],
            self.features[rows],
            self.sources[rows],
            self.trained[rows],
            tuple(self.names[row] for row in rows),
        )

    def curves(self, space: str = "probability") -> Curves:
        """Return loss and size against the threshold; scores are minus a probability or logit.

        The grid is followed by one more threshold, at which every pixel is in the mask.
        """
        last = 0.0 if space == "probability" else -LOGITS[-1] + (LOGITS[0] - LOGITS[1])
        scores = -1.0 / (1.0 + np.exp(-LOGITS)) if space == "probability" else -LOGITS
        n = len(self)
        losses = np.column_stack([self.losses, np.zeros(n)])
        sizes = np.column_stack([self.sizes, np.ones(n)])
        return from_table(losses, np.append(scores, last), sizes)

    def copies(self) -> IntArray:
        """Return a number per image, which copies of one picture share: all features are equal."""
        _, numbers = np.unique(self.features, axis=0, return_inverse=True)
        return np.asarray(numbers).reshape(-1)

    def groups(self) -> list[str]:
        """Return the name of each image's source."""
        return [SOURCES[source] for source in self.sources]

    def save(self, path: Path) -> None:
        """Write one compressed file: curves to 1/10,000, features in half precision."""
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            losses=_packed(1.0 - self.losses),
            sizes=_packed(self.sizes),
            truth=self.truth.astype(np.float32),
            features=self.features.astype(np.float16),
            sources=self.sources.astype(np.uint8),
            trained=self.trained,
            names=np.array("\n".join(self.names)),
            excluded=np.array(self.excluded),
        )
        atomic_write.write(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Outputs:
        """Read a file that `save` wrote."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(
                losses=1.0 - _unpacked(stored["losses"]),
                sizes=_unpacked(stored["sizes"]),
                truth=stored["truth"].astype(np.float64),
                features=stored["features"].astype(np.float64),
                sources=stored["sources"].astype(np.int64),
                trained=stored["trained"],
                names=tuple(str(stored["names"]).split("\n")),
                excluded=int(stored["excluded"]),
            )

    def digest(self) -> str:
        """Return the SHA-256 of everything that results depend on."""
        parts: list[NDArray[Any]] = [self.losses, self.sizes, self.features]
        parts += [self.sources, self.trained]
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def shipped() -> Outputs:
    """Return the outputs of our own network."""
    return Outputs.load(recorded("polyps", FILE))


def _packed(shares: FloatArray) -> NDArray[np.uint16]:
    """Increments of shares that rise along each row, which compress well."""
    levels = np.rint(shares * _LEVELS).astype(np.int64)
    return np.diff(levels, axis=1, prepend=0).astype(np.uint16)


def _unpacked(steps: NDArray[np.uint16]) -> FloatArray:
    return np.cumsum(steps, axis=1, dtype=np.int64) / _LEVELS
