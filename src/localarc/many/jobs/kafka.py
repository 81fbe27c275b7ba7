"""A Kafka-compatible log as a source: JSON messages, read from stored offsets up to the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localarc.many.columns import Roles
from localarc.many.jobs.job import Batch
from localarc.many.jobs.messages import read_messages
from localarc.serialization import StateError

_PATIENCE = 30.0  # seconds without an answer from the brokers
_WAIT = 0.1  # seconds until messages that came are looked at


@dataclass(frozen=True)
class Topic:
    """A topic; the place is the next offset of each partition.

    Offsets are stored with the state, and nothing is committed to the brokers.
    """

    name: str
    config: tuple[tuple[str, Any], ...]
    batch: int
    rejects: bool

    def start(self) -> dict[str, Any]:
        """Before the oldest message that the brokers have."""
        return {"topic": self.name, "offsets": {}, "messages": 0}

    def check(self, place: dict[str, Any], folder: Path) -> None:
        """Raise StateError unless the stored offsets are of this topic."""
        if place.get("topic") != self.name:
            was = f"topic {place['topic']!r}" if "topic" in place else "files"
            raise StateError(
                f"{folder} is a job over {was}, now it is topic {self.name!r}. Name another folder."
            )

    def done(self, place: dict[str, Any]) -> int:
        """How many messages were learned."""
        return int(place["messages"])

    def batches(self, place: dict[str, Any], roles: Roles) -> Iterator[Batch]:
        """Batches of messages, up to the end of the topic as it is now."""
        consumer = _kafka().Consumer(
            {
                **dict(self.config),
                "group.id": "localarc",  # required, and not used: offsets are ours
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
            }
        )
        try:
            yield from self._read(consumer, place, roles)
        finally:
            consumer.close()

    def _read(self, consumer: Any, place: dict[str, Any], roles: Roles) -> Iterator[Batch]:
        offsets, ends = self._span(consumer, dict(place["offsets"]))
        done = int(place["messages"])
        waits = {p for p, end in ends.items() if offsets[p] < end}
        partition = _kafka().TopicPartition
        consumer.assign([partition(self.name, int(p), offsets[p]) for p in sorted(waits)])
        while waits:
            messages = self._take(consumer, offsets, ends, waits)
            if messages:
                done += len(messages)
                after = {"topic": self.name, "offsets": dict(offsets), "messages": done}
                events, rejected = read_messages(messages, roles, self.rejects)
                yield Batch(events, after, rejected)

    def _span(
        self, consumer: Any, offsets: dict[str, int]
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Where to begin in each partition, and where it ends now."""
        known = self._metadata(consumer)
        if known.error is not None or not known.partitions:
            raise ValueError(
                f"topic {self.name!r} cannot be read: {known.error or 'it has no partitions'}."
            )
        ends: dict[str, int] = {}
        for number in known.partitions:
            partition = _kafka().TopicPartition(self.name, number)
            low, high = consumer.get_watermark_offsets(partition, timeout=_PATIENCE)
            here = offsets.setdefault(str(number), low)
            if here < low:
                raise StateError(
                    f"messages {here} to {low - 1} of partition {number} of topic {self.name!r} "
                    "are gone: the brokers keep messages for less time than the job was stopped. "
                    "Start a new folder."
                )
            ends[str(number)] = high
        return offsets, ends

    def _metadata(self, consumer: Any) -> Any:
        try:
            return consumer.list_topics(self.name, timeout=_PATIENCE).topics[self.name]
        except _kafka().KafkaException as error:
            servers = dict(self.config)["bootstrap.servers"]
            raise ValueError(
                f"no broker answers at {servers}: {error.args[0].str()}. Check servers=."
            ) from error

    def _take(
        self, consumer: Any, offsets: dict[str, int], ends: dict[str, int], waits: set[str]
    ) -> list[Any]:
        """The next messages, sorted by partition and offset; moves offsets, ends `waits`."""
        found: list[Any] = []
        silent_since = time.monotonic()
        while waits and len(found) < self.batch:
            rest = sum(ends[p] - offsets[p] for p in waits)
            wanted = max(1, min(self.batch - len(found), rest, 10_000))
            answer = consumer.consume(wanted, timeout=_WAIT)  # returns when it has as many
            if answer:
                silent_since = time.monotonic()
            elif time.monotonic() - silent_since > _PATIENCE:
                raise ValueError(f"the brokers of topic {self.name!r} do not answer any more.")
            for message in answer:
                self._note(message, offsets, ends, waits, found)
        return sorted(found, key=lambda message: (message.partition(), message.offset()))

    def _note(
        self,
        message: Any,
        offsets: dict[str, int],
        ends: dict[str, int],
        waits: set[str],
        found: list[Any],
    ) -> None:
        error, partition = message.error(), str(message.partition())
        if error is None:
            if message.offset() < ends[partition]:  # later ones are for the next run
                found.append(message)
                offsets[partition] = message.offset() + 1
        elif error.code() == _kafka().KafkaError._PARTITION_EOF:
            offsets[partition] = max(offsets[partition], message.offset())
            waits.discard(partition)
        else:
            raise ValueError(f"topic {self.name!r} cannot be read: {error.str()}.")
        if offsets[partition] >= ends[partition]:
            waits.discard(partition)


def _kafka() -> Any:
    try:
        import confluent_kafka
    except ImportError as error:
        raise ImportError("this requires confluent-kafka: pip install 'localarc[kafka]'") from error
    return confluent_kafka
