"""Make a golden data folder with the present code: `python make.py FOLDER`."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from localarc import Gate, algorithms
from localarc_client.wire import config as config_format
from localarc_client.wire import config_parts
from localarc_client.wire.config import AutoConfig
from localarc_client.wire.config_parts import IntervalConfig, LabelSetConfig
from localarc_client.wire.config_reading import read_config
from localarc_client.wire.fields import Request
from localarc_client.wire.infinite import as_text
from localarc_client.wire.lifecycle import ChangeRequest, RenameRequest
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.api.queries import summarize
from localarc_service.limits import Limits
from localarc_service.storage.store import EventStore
from localarc_service.stored import events
from localarc_service.stored import format as stored_format
from localarc_service.streams import lifecycle
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.methods import build_calibrator
from localarc_service.streams.stream import Stream

ROUNDS = 24
MATERN = {"kind": "matern32", "length_scale": [0.3, 1.7], "scale": 1.5}
QUADRATIC = {"kind": "rational-quadratic", "length_scale": 0.6, "shape": 1.5}
LABELS = {"kind": "labels", "labels": ["ant", "bee", "cat"], "score": "cumulative"}
LATTICE = {"kind": "lattice", "tolerance": 1e-8}

# A stream's config, and how many of its rounds come after its snapshot (None: all of them).
STREAMS: dict[str, tuple[dict[str, Any], int | None]] = {
    "arc": ({"alpha": 0.1, "method": "arc", "rate": 0.7, "set": {"kind": "interval"},
             "score_range": [0, 2], "floor": 0.01}, 9),
    "lattice": ({"alpha": 0.1, "kernel": {"length_scale": 0.7}, "features": 1,
                 "memory": LATTICE}, 6),
    "auto-lattice": ({"alpha": 0.15, "kernel": {"length_scale": [2.3, 3.1], "scale": 3.0},
                      "features": 2, "set": {"kind": "labels"}, "retain": 7}, 0),
    "dictionary": ({"alpha": 0.2, "kernel": MATERN, "features": 2, "clip": 1.0,
                    "rate": {"kind": "power", "eta": 0.9, "exponent": 0.4},
                    "memory": {"kind": "dictionary", "max_size": 20}}, 11),
    "auto-dictionary": ({"alpha": 0.1, "kernel": QUADRATIC, "features": 3,
                         "regularization": 0.01}, None),
    "keep-last": ({"alpha": 0.25, "kernel": {"kind": "laplace", "length_scale": 0.9},
                   "features": 1, "memory": {"kind": "keep-last", "m": 5}, "set": LABELS}, 5),
    "keep-all": ({"alpha": 0.1, "kernel": {"kind": "cauchy", "length_scale": 0.33}, "features": 1,
                  "rate": {"kind": "constant", "eta": 0.05}, "memory": {"kind": "keep-all"},
                  "initial_threshold": 0.5, "loss_bound": 2.0}, None),
    "matern52": ({"alpha": 0.3, "kernel": {"kind": "matern52", "length_scale": 1.3},
                  "features": 1, "timeout": 36, "default_loss": 1.0}, 4),
    "triangular": ({"alpha": 0.1, "kernel": {"kind": "triangular", "length_scale": 0.6},
                    "features": 1, "timeout": 42}, 3),
    "imported": ({"alpha": 0.1, "kernel": {"length_scale": 0.7}, "features": 1,
                  "memory": LATTICE}, 10),
    "mondrian": ({"alpha": 0.1, "method": "mondrian", "score_range": [0, 1], "timeout": 36}, 7),
    "auto": ({"alpha": 0.1, "features": 2, "set": {"kind": "interval"}, "timeout": 42}, 8),
    "auto-labels": ({"alpha": 0.2, "features": 1, "set": LABELS, "timeout": 42,
                     "default_loss": 1.0, "memory": {"kind": "nodes", "max_bytes": 65536}}, 6),
    "auto-losses": ({"alpha": 0.1, "method": "auto", "unit": 0.2, "limits": [0, 2],
                     "promise": "at most", "evenness": 2, "features": 3}, None),
    "auto-imported": ({"alpha": 0.1, "features": 2, "set": {"kind": "interval"}}, 2),
    "gate": ({"alpha": 0.3, "method": "gate", "features": 1}, 5),
    "gate-events": ({"alpha": 0.3, "method": "gate"}, None),
    "recovered": ({"alpha": 0.3, "method": "arc", "tolerance": 0.4, "stale_after": 60}, 4),
    "recovered-events": ({"alpha": 0.3, "method": "arc", "tolerance": 0.4}, None),
}  # fmt: skip


CHANGES: dict[str, dict[str, Any]] = {
    "auto": {"labels": {"team": "ö", "region": "north"}, "timeout": 50.0, "default_loss": 1.0},
    "dictionary": {"retention": 60.0},
}
RENAMED = {"keep-last": "kept"}
IMPORTED_FROM = {"imported": "lattice", "auto-imported": "auto"}


class Maker:
    """Sends rounds to the stream manager, and records the responses."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_700_000_000.0
        self.manager = StreamManager(Limits(), lambda: self.now)
        self.store = EventStore(folder)
        self.source = random.Random(1)
        self.sent: dict[str, Any] = {name: {"predictions": [], "losses": []} for name in STREAMS}

    def commit(self) -> None:
        manager = self.manager
        writes = [write for write in manager.uncommitted if write.event is not None]
        self.store.append(writes, manager.replaced)
        manager.uncommitted, manager.replaced = [], {}

    def body(self, name: str, t: int) -> dict[str, Any]:
        config = self.manager.streams[name].state.config
        x = [round(self.source.uniform(-1, 1), 3) for _ in range(config.features)]
        body: dict[str, Any] = {"x": x}
        if self.source.random() < 0.7 or config.method == "mondrian":
            body["group"] = self.source.choice(["a", "b", "ö"])
        if config.method == "gate":
            body["confidence"] = round(self.source.uniform(0.3, 1), 2)
        if config.method == "auto" and self.source.random() < 0.5:
            body["group"] = ["a", self.source.choice(["b", "ö"])]
        if config.set is not None:
            size = 1 if isinstance(config.set, IntervalConfig) else 3
            scores = [round(self.source.uniform(0.1, 1), 2) for _ in range(size)]
            if isinstance(config.set, LabelSetConfig) and config.set.score == "cumulative":
                scores = [round(score / sum(scores), 6) for score in scores]
            body["scores"] = scores
        return body | ({"id": f"p{t}"} if t % 9 else {})

    def round(self, name: str, t: int) -> None:
        self.now += 0.5
        body = self.body(name, t)
        response = self.manager.predict(name, msgspec.convert(body, PredictRequest))
        if "id" in body:
            told = exact(as_builtins(response))
            self.sent[name]["predictions"].append({"body": body, "answer": told})
        self.manager.expire()
        pending = list(self.manager.streams[name].state.pending)
        while len(pending) > 4 and self.source.random() < 0.95:
            key = pending.pop(self.source.randrange(len(pending) - 2))
            report = self.report(name)
            answer = self.manager.feedback(name, key, FeedbackRequest(**report))
            told = {"id": key, **report, "answer": msgspec.to_builtins(answer)}
            self.sent[name]["losses"].append(told)

    def break_and_recover(self, name: str, t: int) -> None:
        """More rounds: the promise is broken at first, and kept later."""
        for number in range(4):
            key, loss = f"more-{t}-{number}", float(t < 12)
            self.manager.predict(name, PredictRequest(id=key))
            self.manager.feedback(name, key, FeedbackRequest(loss))

    def report(self, name: str) -> dict[str, Any]:
        config, value = self.manager.streams[name].state.config, round(self.source.random(), 3)
        if config.method == "gate":
            seen = {"loss": float(value < 0.1)} if value < 0.7 else {}
            return seen | ({"probability": 0.7} if value > 0.05 else {})
        if not isinstance(config, AutoConfig) or config.unit is not None:
            return {"loss": self.source.choice([0.0, 1.0, value])}
        assert config.set is not None
        if value < 0.7:
            interval = isinstance(config.set, IntervalConfig)
            return {"outcome": value if interval else self.source.choice(["ant", "bee", "cat"])}
        return {"loss": float(value > 0.9), "score": value if value < 0.98 else "-inf"}

    def make(self) -> None:
        for name, (config, _) in STREAMS.items():
            self.manager.create(name, read_config(config))
        for t in range(ROUNDS):
            for name, (config, after) in STREAMS.items():
                if t == 17 and name in IMPORTED_FROM:
                    state = self.manager.stream(IMPORTED_FROM[name]).calibrator.state()
                    self.manager.import_state(name, state)
                if after is not None and t == ROUNDS - after:
                    self.commit()
                    self.store.snapshot([self.manager.streams[name]])
                self.round(name, t)
                if "tolerance" in config:
                    self.break_and_recover(name, t)
            if t == 15:
                self.manager.acknowledge("arc")
                for name, changes in CHANGES.items():
                    lifecycle.change(self.manager, name, ChangeRequest(**changes))
            lifecycle.remove_old_records(self.manager)
        for name, renamed in RENAMED.items():
            lifecycle.rename(self.manager, name, RenameRequest(renamed))
            self.sent[renamed] = self.sent.pop(name)
        self.commit()
        for name, (_, after) in STREAMS.items():
            if after == 0:
                self.store.snapshot([self.manager.streams[name]])
        self.store.prune()
        self.store.close()


def probes(features: int) -> list[list[float]]:
    return [[round(0.37 * i - 0.9 + 0.21 * j, 3) for j in range(features)] for i in range(6)]


def thresholds(calibrator: Any, features: int) -> list[str]:
    grouped = isinstance(calibrator, Gate) or "groups" in calibrator.learns_from
    more = {"groups": "a"} if grouped else {}
    return [float(calibrator.threshold(np.array(x), **more)).hex() for x in probes(features)]


def exact(value: Any) -> Any:
    """JSON with floats and bytes in hexadecimal."""
    if isinstance(value, float | bytes):
        return value.hex()
    if isinstance(value, dict):
        return {name: exact(part) for name, part in value.items()}
    return [exact(part) for part in value] if isinstance(value, list | tuple) else value


def as_builtins(message: Any) -> Any:
    """A message as its JSON would have it."""
    return msgspec.to_builtins(message, enc_hook=as_text)


def fields(struct: Any) -> Any:
    """A stored object by field name, however it is stored."""
    if isinstance(struct, msgspec.Struct):
        about = struct.__struct_config__
        tag = {about.tag_field: about.tag} if about.tag_field else {}
        return tag | {name: fields(getattr(struct, name)) for name in struct.__struct_fields__}
    if isinstance(struct, dict):
        return {name: fields(part) for name, part in struct.items()}
    return [fields(part) for part in struct] if isinstance(struct, list | tuple) else struct


def describe(stream: Stream) -> dict[str, Any]:
    """What every later version must find in the data folder."""
    features = stream.state.config.features
    further: Any = build_calibrator(stream.state.config).restore(stream.calibrator.state())
    source = random.Random(2)
    for _ in range(20):
        x = np.array([source.uniform(-1, 1) for _ in range(features)])
        value = source.random()
        if isinstance(further, Gate):
            made = further.decide(x, confidence=value, groups="a")
            if made.answer:
                further.tell(made, wrong=value < 0.3)
            continue
        more: dict[str, Any] = {}
        if "groups" in further.learns_from:
            more["groups"] = "a" if value < 0.5 else "b"
        if "score" in further.learns_from:
            more["score"] = value
        further.update(x, float(value < 0.3), **more)
    summary = summarize(stream)
    found: dict[str, Any] = exact(
        {
            "healthy": stream.consistent,
            "replay_differs": stream.replay_differs,
            "thresholds": thresholds(stream.calibrator, features),
            "thresholds_after_20_more_rounds": thresholds(further, features),
            "risk": summary.risk,
            "bound": summary.certificate.bound.value,
            "identity_gap": summary.certificate.consistency_gap,
            "memory_bytes": summary.memory_bytes,
            "state": fields(stream.state),
            "watch": msgspec.msgpack.decode(stream.watch.encode()),
        }
    )
    return found


def stored_classes() -> list[type[msgspec.Struct]]:
    modules = stored_format, events, config_format, config_parts
    found = [value for module in modules for value in vars(module).values()]
    bases = stored_format.Stored, Request
    stored = {kind for kind in found if isinstance(kind, type) and issubclass(kind, bases)}
    return sorted(stored, key=lambda kind: kind.__name__)


def schema() -> dict[str, Any]:
    """Every stored class: its fields in order with their types, and how it is encoded."""
    return {
        kind.__name__: {
            "fields": [[name, kind_of(kind, name)] for name in kind.__struct_fields__],
            "by_position": kind.__struct_config__.array_like,
            "tag": kind.__struct_config__.tag,
            "omits_defaults": kind.__struct_config__.omit_defaults,
        }
        for kind in stored_classes()
    }


def kind_of(kind: type[msgspec.Struct], name: str) -> str:
    owner = next(each for each in kind.__mro__ if name in each.__annotations__)
    return str(owner.__annotations__[name])


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, separators=(",", ":")).replace("},", "},\n") + "\n")


def shrink(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA page_size = 1024")
        database.execute("VACUUM")


def main(folder: Path) -> None:
    folder.mkdir()
    maker = Maker(folder)
    maker.make()
    with contextlib.closing(EventStore(folder)) as store:
        streams = store.load()
        expected = {
            name: describe(stream) | {"sent": maker.sent[name]} for name, stream in streams.items()
        }
    shrink(folder / "log.sqlite")
    write_json(folder / "expected.json", expected)
    write_json(folder / "schema.json", schema())
    write_json(
        folder / "algorithms.json", {kind: algorithms.number_of(kind) for kind in algorithms.PARTS}
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
