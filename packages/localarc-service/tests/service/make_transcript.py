"""Write the golden transcript: streams of every method, each with what a client would send.

`PYTHONPATH=tests:packages/localarc-service/tests .venv/bin/python -m service.make_transcript`. Run
it when an algorithm's number was raised, or an endpoint responds something else on purpose.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from localarc_service.api.auth import Tokens
from localarc_service.limits import Limits
from service import transcript
from service.service_in_thread import Inside

ROUNDS = 18
IN_BATCHES = 12  # more rounds
LATE = 3  # feedback comes after so many further predictions, and not in their order
LABELS = {"kind": "labels", "labels": ["ant", "bee", "cat"], "score": "probability"}
KERNEL = {"kind": "rbf", "length_scale": 0.5, "scale": 2.0}
STREAMS: dict[str, dict[str, Any]] = {
    "arc": {"alpha": 0.2, "method": "arc", "set": {"kind": "interval"}, "score_range": [0, 2]},
    "larc": {"alpha": 0.2, "kernel": KERNEL, "features": 1, "set": {"kind": "interval"}},
    "auto": {"alpha": 0.2, "features": 2, "set": {"kind": "interval"}, "feature_names": ["a", "b"]},
    "auto-labels": {"alpha": 0.2, "features": 1, "set": LABELS, "promise": "at most"},
    "mondrian": {"alpha": 0.2, "method": "mondrian", "set": LABELS},
    "gate": {"alpha": 0.3, "method": "gate", "features": 1},
}
READS = "", "/history"
MAPS = "larc", "auto"
BATCHES = ("arc", "auto", "auto-labels", "gate"), ("larc", "mondrian")  # which round alike, or not


def wave(t: int, step: int) -> float:
    """A number between 0 and 1 that looks random, and is the same everywhere."""
    return round(t * step % 101 / 101, 3)


class Writer:
    """Sends the requests of a stream's life, and keeps what was responded."""

    def __init__(self, service: Inside) -> None:
        self.service = service
        self.exchanges: list[transcript.Exchange] = []

    def send(self, method: str, path: str, body: Any = None) -> Any:
        now = self.service.clock.now + 1.0
        made = transcript.send(self.service, now, method, f"/v1{path}", body)
        self.exchanges.append(made)
        return made.response

    def predict(self, stream: str, t: int) -> None:
        self.send("POST", f"/streams/{stream}/predict", input_of(stream, t))

    def report(self, stream: str, t: int) -> None:
        path = f"/streams/{stream}/predictions/p{t}"
        if stream != "gate" or self.went_out(t):
            self.send("PUT", f"{path}/feedback", outcome_of(stream, t))
        elif t % 2:
            self.send("PUT", f"{path}/audit", {"wrong": wave(t, 53) < 0.5})

    def went_out(self, t: int) -> bool:
        return any(
            each.response["answer"] and each.response["id"] == f"p{t}"
            for each in self.exchanges
            if each.path.endswith("/gate/predict")
        )

    def batch(self, streams: tuple[str, ...], t: int) -> None:
        """A round of several streams in one request, and what is late of the one before."""
        asks = [{"op": "predict", "stream": name, **input_of(name, t)} for name in streams]
        known = [
            {"op": "feedback", "stream": name, "id": f"p{t - 1}", **outcome_of(name, t - 1)}
            for name in streams
            if name != "gate"
        ]
        self.send("POST", "/batch", {"operations": asks + known})

    def errors(self) -> None:
        """What is rejected, and what is repeated without effect."""
        self.predict("arc", 0)
        self.send("POST", "/streams/arc/predict", input_of("arc", 1) | {"id": "p0"})
        self.send("PUT", "/streams/auto/predictions/none/feedback", {"loss": 1.0})
        self.send("POST", "/streams/mondrian/predict", {"id": "groupless"})
        self.send("GET", "/streams/nothing")


def arriving(t: int) -> int | None:
    """Of which round feedback comes as number t: no order, and some never does."""
    at = t - t % 3 + (2, 0, 1)[t % 3]
    return None if t < 0 or at % 11 == 10 else at


def input_of(stream: str, t: int) -> dict[str, Any]:
    """A prediction's input."""
    features, place = STREAMS[stream].get("features", 0), wave(t, 37)
    body: dict[str, Any] = {"id": f"p{t}", "x": [place, wave(t, 17)][:features]}
    if stream == "gate":
        return body | {"confidence": place, "group": "morning" if t % 2 else "evening"}
    body["group"] = "left" if t % 3 else "right"
    if stream == "auto":
        body["group"] = [body["group"], "even" if t % 2 else "odd"]
    if STREAMS[stream]["set"]["kind"] == "labels":
        shares = round(0.2 + place / 2, 3), round((1 - place) / 3, 3)
        return body | {"scores": [*shares, round(1 - sum(shares), 3)]}
    return body | {"scores": [place]}


def outcome_of(stream: str, t: int) -> dict[str, Any]:
    """What becomes known of a prediction."""
    value = wave(t, 29)
    if stream == "gate":
        return {"loss": float(wave(t, 37) < 0.3)} | ({"probability": 0.8} if t % 5 == 0 else {})
    if stream == "auto" and t % 4 == 0:
        return {"loss": float(value > 0.7), "score": value}
    if STREAMS[stream]["set"]["kind"] == "labels":
        return {"y": ["ant", "bee", "cat"][t % 5 % 3]}
    return {"y": value}


def live(writer: Writer) -> None:
    """All of the streams' lives, side by side."""
    for name, config in STREAMS.items():
        writer.send("PUT", f"/streams/{name}", config)
    for t in range(ROUNDS):
        for name in STREAMS:
            writer.predict(name, t)
            known = arriving(t - LATE)
            if known is not None:
                writer.report(name, known)
    writer.errors()
    for t in range(ROUNDS, ROUNDS + IN_BATCHES):
        for streams in BATCHES:
            writer.batch(streams, t)
    for name in STREAMS:
        for read in READS:
            writer.send("GET", f"/streams/{name}{read}")
    for name in MAPS:
        writer.send("GET", f"/streams/{name}/map?size=3")
    writer.send("GET", "/streams")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        service = Inside(Path(folder), Limits(), Tokens({})).start()
        try:
            writer = Writer(service)
            live(writer)
        finally:
            service.stop()
    transcript.write(writer.exchanges)


if __name__ == "__main__":
    main()
