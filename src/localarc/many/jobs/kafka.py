"""Jobs over a Kafka-compatible topic: JSON messages, read from stored offsets up to the end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localarc import validation
from localarc.many.columns import Columns
from localarc.many.jobs.job import Batch, Job
from localarc.many.jobs.messages import read_messages
from localarc.many.limits import Limits
from localarc.many.panel.streams import Prototype
from localarc.serialization import StateError

_PATIENCE = 30.0  # seconds without an answer from the brokers
_WAIT = 0.1  # seconds until messages that came are looked at


def run_topic(
    topic: str,
    folder: str | os.PathLike[str],
    columns: Columns,
    calibrator: Prototype,
    *,
    servers: str,
    limits: Limits = Limits(),  # noqa: B008
    last: bool = False,
    shards: int = 2,
    jobs: int | None = -1,
    bad_rows: str = "fail",
    initial: str | os.PathLike[str] | None = None,
    batch: int = 100_000,
    config: Mapping[str, str] | None = None,
) -> int:
    """Calibrate the messages of a topic up to its end, and resume where it stopped.

    A message is a JSON object with a field for each of `columns`. Rows gain `kafka_topic`,
    `kafka_partition` and `kafka_offset`. The offsets are part of the state: a run that was killed,
    at any moment, is continued by the same call, and every row is written once.

    Parameters
    ----------
    topic : str
        The topic. All messages of a key must be in one partition, unless `order` or `time` say how
        to sort them.
    folder : path-like
        The folder of the job: `rows` has one Parquet file per batch and shard, and `state` one per
        shard, which `KeyedStreams.load` reads.
    columns : Columns
        What the fields mean.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses.
    servers : str
        Brokers to ask first, such as `"localhost:9092"`.
    limits, last
        As for `run_files`.
    shards : int, default 2
        How many parts the keys are distributed over; each reads all messages.
    jobs : int or None, default -1
        How many processes work at once; -1 for one per core.
    bad_rows : {"fail", "reject"}, default "fail"
        Whether a bad row raises BadRowError, or is written with the violated rule in `rejected`.
        So is a message that is not a JSON object: its rule is "bad message".
    initial : path-like, optional
        A Parquet file of keyed streams to start from, as for `run_files`.
    batch : int, default 100000
        The largest number of messages that are learned at once.
    config : mapping of str to str, optional
        Further settings of librdkafka, such as those of TLS and SASL.

    Returns
    -------
    int
        How many messages have been learned by all shards.

    Examples
    --------
    >>> run_topic("scores", "job", Columns(key="customer", score="score"), ARC(alpha=0.1),
    ...           servers="localhost:9092")  # doctest: +SKIP
    """
    job = Job.checked(folder, columns, calibrator, limits, bad_rows, shards, initial)
    validation.integer("batch", batch, 1, "It is a number of messages.")
    settings = {**(config or {}), "bootstrap.servers": servers}
    source = Topic(topic, tuple(settings.items()), batch, columns, job.rejects)
    return min(job.run(source, jobs, last))


@dataclass(frozen=True)
class Topic:
    """A topic; the place is the next offset of each partition.

    Offsets are stored with the state, and nothing is committed to the brokers.
    """

    name: str
    config: tuple[tuple[str, Any], ...]
    batch: int
    columns: Columns
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

    def batches(self, place: dict[str, Any]) -> Iterator[Batch]:
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
            yield from self._read(consumer, place)
        finally:
            consumer.close()

    def _read(self, consumer: Any, place: dict[str, Any]) -> Iterator[Batch]:
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
                events, rejected = read_messages(messages, self.columns, self.rejects)
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
