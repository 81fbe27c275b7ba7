"""The stored form of a bucket, of this version and the first."""

from typing import Any

import pytest

from localarc import ARC, AutoLARC
from localarc.many import Columns
from localarc.many.rows import bucket_bytes as stored
from localarc.many.rows.bucket import Bucket
from localarc.serialization import StateError
from many.keyed_events import PROTOTYPES, columns_of, late, learn, scored

LATE: dict[str, Any] = {"kind": "kind", "id": "id"}


@pytest.mark.parametrize(("prototype", "dimension"), PROTOTYPES.values(), ids=PROTOTYPES)
def test_a_bucket_with_pending_asks_resumes_bit_for_bit(prototype: Any, dimension: int) -> None:
    frame, mine = late(dimension=dimension), columns_of(dimension, **LATE)
    bucket = Bucket.new(prototype, mine)
    learn(bucket, frame[:50])
    assert len(bucket.pending)
    data = stored.encode(bucket)
    again = stored.decode(data, prototype, mine)
    assert stored.encode(again) == data
    expected, found = learn(bucket, frame[50:]), learn(again, frame[50:])
    assert found["threshold"].tolist() == expected["threshold"].tolist()
    assert stored.encode(again) == stored.encode(bucket)


def test_strange_ids_come_back() -> None:
    frame = late().assign(id=lambda f: f["id"] + " \u00e4/\u4e2d\n")
    bucket = Bucket.new(ARC(0.1), columns_of(**LATE))
    learn(bucket, frame[:50])
    again = stored.decode(stored.encode(bucket), ARC(0.1), columns_of(**LATE))
    assert again.pending.ids.to_pylist() == bucket.pending.ids.to_pylist()


OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"score": "x9"}, "score='score', now it is 'x9'"),
    ({"score": None, "loss": "x9"}, "rows of scores, now they are losses"),
    (LATE, "rows of scores, now they are asks and late scores"),
    ({"order": "n"}, "order='order', now it is 'n'"),
    ({"key": ["key", "x9"]}, r"key='key', now it is \['key', 'x9'\]"),
    ({"features": ["x1", "x0"]}, r"features=\['x0', 'x1'\], now it is \['x1', 'x0'\]"),
    ({"features": ["x0"]}, r"features=\['x0', 'x1'\], now it is 'x0'"),
]


@pytest.mark.parametrize(("change", "says"), OTHERS, ids=[says for _, says in OTHERS])
def test_other_columns_are_refused_with_the_difference(change: dict[str, Any], says: str) -> None:
    bucket = Bucket.new(ARC(0.1), columns_of(2))
    learn(bucket, scored(dimension=2))
    data = stored.encode(bucket)
    with pytest.raises(StateError, match=f"the state was written with {says}"):
        stored.decode(data, ARC(0.1), columns_of(2, **change))


def test_another_calibrator_and_another_kind_of_state_are_refused() -> None:
    data = stored.encode(Bucket.new(ARC(0.1), columns_of()))
    for other in (ARC(0.2), AutoLARC(0.1)):
        with pytest.raises(StateError):
            stored.decode(data, other, columns_of())
    with pytest.raises(StateError, match="kind ARC, not Keyed"):
        stored.decode(ARC(0.1).state(), ARC(0.1), columns_of())


def test_roles_come_back_from_json() -> None:
    mine = columns_of(2, **LATE, key=["key", "other"])
    assert Columns.from_json(mine.to_json()) == mine
