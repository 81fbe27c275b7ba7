"""Evaluation: what sets of beams came to, for all users and from place to place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.curves import Curves
from localarc.experiments.beams import grid
from localarc.experiments.beams.grid import Cells
from localarc.experiments.beams.raytracer import AREA
from localarc.experiments.beams.users import Users
from localarc.experiments.experiment import Row
from localarc.validation import FloatArray

COUNTED = Cells(AREA, 10.0)
"""The cells whose risks are compared."""

DRAWN = Cells(AREA, 5.0)
"""The cells of the maps."""

FEW = 10
"""A cell with fewer users than these is not compared."""

PERCENTILES = 5, 10, 50
SNR = tuple(f"snr_{p}" for p in PERCENTILES)
"""Percentiles of the gain that users have."""

QUARTERS = 4
BY_QUARTER = tuple(
    f"{value}_quarter_{q + 1}" for value in ("risk", "size") for q in range(QUARTERS)
)
"""Risk and size by quarters of users, from the weakest best beam to the strongest."""


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Users with the losses and sizes of their sets."""

    users: Users
    losses: FloatArray
    sizes: FloatArray

    @classmethod
    def at(cls, users: Users, curves: Curves, thresholds: FloatArray) -> Evaluated:
        """Each user at a threshold of its own."""
        return cls(users, curves.losses_at(thresholds), curves.sizes_at(thresholds))

    def row(self) -> Row:
        """Risk, size and SNR of all users, and how the risk differs between cells."""
        places, near = self.users.places, self.users.near
        counts = COUNTED.counts(places)
        risks = grid.means(COUNTED.sums(places, self.losses), counts, FEW)
        risks = risks[np.isfinite(risks)]
        snr = np.percentile(self.users.served(self.losses), PERCENTILES)
        return {
            "risk": float(self.losses.mean()),
            "size": float(self.sizes.mean()),
            "empty": float((self.sizes == 0).mean()),
            "cell_std": float(risks.std()),
            "cell_worst": float(risks.max()),
            "cells": len(risks),
            "near": float(self.losses[near].mean()),
            "far": float(self.losses[~near].mean()),
            **dict(zip(SNR, snr.tolist(), strict=True)),
            **self._by_quarter(),
        }

    def _by_quarter(self) -> Row:
        order = np.argsort(self.users.gains.max(axis=1), kind="stable")
        parts = np.array_split(order, QUARTERS)
        values = [float(all_[part].mean()) for all_ in (self.losses, self.sizes) for part in parts]
        return dict(zip(BY_QUARTER, values, strict=True))

    def maps(self, name: str) -> dict[str, NDArray[Any]]:
        """Sums of risk and of SNR over the users of each cell."""
        places = self.users.places
        return {
            f"risk {name}": DRAWN.sums(places, self.losses),
            f"snr {name}": DRAWN.sums(places, self.users.served(self.losses)),
        }
