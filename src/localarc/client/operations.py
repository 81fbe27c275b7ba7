"""Operations: a prediction or a feedback, to be sent alone or with others in a batch."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from localarc import validation


def new_id() -> str:
    """An id that nobody else has."""
    return uuid.uuid4().hex


@dataclass(frozen=True)
class Predict:
    """Ask for a threshold; without an `id` it gets one of its own, which makes it repeatable."""

    stream: str
    x: ArrayLike = ()
    id: str = field(default_factory=new_id)
    group: str | None = None
    scores: ArrayLike | None = None

    def message(self) -> dict[str, Any]:
        """What is sent: plain finite numbers."""
        message: dict[str, Any] = {"x": _plain("x", self.x), "id": self.id}
        if self.group is not None:
            message["group"] = self.group
        if self.scores is not None:
            message["scores"] = _plain("scores", self.scores)
        return message

    def in_batch(self) -> dict[str, Any]:
        """What is sent in a batch."""
        return {"op": "predict", "stream": self.stream, **self.message()}


def _plain(name: str, values: ArrayLike) -> list[float]:
    """The numbers of one input; several at once would be taken for one with more features."""
    array = validation.numbers(name, values)
    if array.ndim > 1:
        raise ValueError(
            f"{name} must be a number or a flat list of numbers, got shape {array.shape}: predict "
            "one input at a time, or many in a batch."
        )
    return array.reshape(-1).tolist()


@dataclass(frozen=True)
class Learn:
    """Report the loss of the prediction `id`."""

    stream: str
    id: str
    loss: float

    def message(self) -> dict[str, Any]:
        """What is sent."""
        hint = "It is what the prediction cost, e.g. 0.0 or 1.0."
        return {"loss": validation.finite("loss", self.loss, hint)}

    def in_batch(self) -> dict[str, Any]:
        """What is sent in a batch."""
        return {"op": "feedback", "stream": self.stream, "id": self.id, **self.message()}


Operation: TypeAlias = Predict | Learn
