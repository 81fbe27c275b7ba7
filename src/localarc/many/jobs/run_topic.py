"""A keyed job over a Kafka-compatible topic on one machine, which resumes where it stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from localarc import validation
from localarc.many.checks import rejects_bad_rows
from localarc.many.columns import Roles
from localarc.many.jobs.job import Job
from localarc.many.jobs.kafka import Topic
from localarc.many.limits import Limits, check_delay
from localarc.many.panel.streams import Prototype


def run_topic(
    topic: str,
    folder: str | os.PathLike[str],
    *,
    servers: str,
    key: str | Sequence[str],
    order: str | None = None,
    features: Sequence[str] = (),
    score: str | None = None,
    loss: str | None = None,
    kind: str | None = None,
    id: str | None = None,  # noqa: A002
    width: str | None = None,
    time: str | None = None,
    delay: timedelta | None = None,
    ttl: timedelta | None = None,
    max_pending: int | None = None,
    last: bool = False,
    calibrator: Prototype,
    shards: int = 2,
    jobs: int | None = -1,
    bad_rows: str = "fail",
    initial: str | os.PathLike[str] | None = None,
    batch: int = 100_000,
    config: Mapping[str, str] | None = None,
) -> int:
    """Calibrate the messages of a topic up to its end, and resume where it stopped.

    A message is a JSON object with a field for each role. Rows gain `kafka_topic`,
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
    servers : str
        Brokers to ask first, such as `"localhost:9092"`.
    key, order, features, score, loss, kind, id, width, time
        The roles of fields, as for `calibrate`.
    delay, ttl, max_pending, last
        As for `run_files`.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses.
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
    >>> run_topic("scores", "job", servers="localhost:9092", key="customer", score="score",
    ...           calibrator=ARC(alpha=0.1))  # doctest: +SKIP
    """
    roles = Roles.checked(
        key=key, order=order, features=features, score=score, loss=loss, kind=kind, id=id,
        width=width, time=time,
    )  # fmt: skip
    check_delay(roles, delay)
    limits = Limits.checked(roles, delay=delay, ttl=ttl, max_pending=max_pending)
    validation.integer("batch", batch, 1, "It is a number of messages.")
    settings = {**(config or {}), "bootstrap.servers": servers}
    rejects, start = rejects_bad_rows(bad_rows), None if initial is None else Path(initial)
    job = Job(Path(folder), calibrator, roles, limits, rejects, shards, start)
    return min(job.run(Topic(topic, tuple(settings.items()), batch, rejects), jobs, last))
