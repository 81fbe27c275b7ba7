"""The running constant c_t and sums over its past: all that the long-run guarantees need."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from localarc.validation import FloatArray


class RunningConstant:
    """c_t and what the guarantees need of its past: eq. (constant_component), and sums over it.

    `weighted` is `sum_r Delta_r c_r` with `Delta_r = 1/eta_r - 1/eta_(r-1)`, for the identity
    `sum_t (L_t - alpha) = sum_r Delta_r (c_(T+1) - c_r)` that every run must satisfy.
    """

    FIELDS = (
        "rounds",
        "constant",
        "lowest",
        "highest",
        "weighted",
        "inverse_rate",
        "loss_sum",
        "constant_sum",
    )
    __slots__ = FIELDS

    def __init__(self, constant: float) -> None:
        self.rounds = 0
        self.constant = self.lowest = self.highest = constant
        self.weighted = self.inverse_rate = self.loss_sum = self.constant_sum = 0.0

    def step(self, rate: float, loss: float, push: float) -> None:
        """One round: `c <- c + push`, where push is `rate * (loss - alpha)`."""
        constant = self.constant
        inverse_rate = 1.0 / rate
        self.rounds += 1
        self.weighted += (inverse_rate - self.inverse_rate) * constant
        self.inverse_rate = inverse_rate
        self.loss_sum += loss
        self.constant_sum += constant
        constant += push
        self.constant = constant
        if constant > self.highest:
            self.highest = constant
        elif constant < self.lowest:
            self.lowest = constant

    def extend(self, rates: FloatArray, losses: FloatArray, alpha: float) -> None:
        """Many rounds at once, summed in the same order as `step` by `step`."""
        if len(rates) == 0:
            return
        constants = np.cumsum(np.concatenate(([self.constant], rates * (losses - alpha))))
        inverse_rates = 1.0 / rates
        gaps = np.diff(inverse_rates, prepend=self.inverse_rate)
        self.rounds += len(rates)
        self.weighted = _running(self.weighted, gaps * constants[:-1])
        self.inverse_rate = float(inverse_rates[-1])
        self.loss_sum = _running(self.loss_sum, losses)
        self.constant_sum = _running(self.constant_sum, constants[:-1])
        self.constant = float(constants[-1])
        self.highest = max(self.highest, float(constants.max()))
        self.lowest = min(self.lowest, float(constants.min()))

    def extend_compiled(self, rates: FloatArray, losses: FloatArray, alpha: float) -> None:
        """`extend`, to the last bit, where the engine is loaded anyway: it is faster there."""
        from localarc.engine import running_constants

        fields = np.array([[getattr(self, name) for name in self.FIELDS]])
        running_constants.learn(fields, np.zeros(len(rates), np.int64), rates, losses, alpha)
        self._set(dict(zip(self.FIELDS, fields[0].tolist(), strict=True)))

    @property
    def risk(self) -> float:
        """The mean loss so far."""
        return self.loss_sum / self.rounds if self.rounds else float("nan")

    def values(self) -> dict[str, float]:
        """The fields, for storage."""
        return {name: getattr(self, name) for name in self.FIELDS}

    @classmethod
    def restored(cls, values: Mapping[str, float]) -> RunningConstant:
        """The running constant whose `values` were stored."""
        constant = cls(float(values["constant"]))
        constant._set(values)
        return constant

    def _set(self, values: Mapping[str, float]) -> None:
        for name in self.FIELDS[1:]:
            setattr(self, name, float(values[name]))
        self.rounds = int(values["rounds"])


def _running(start: float, terms: FloatArray) -> float:
    return float(np.cumsum(np.concatenate(([start], terms)))[-1])
