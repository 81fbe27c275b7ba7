"""Every key has one stream name, and every such name one key."""

import contextlib
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from localarc_client import key_of_stream, stream_name
from localarc_client.wire.fields import STREAM_NAME_PATTERN


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=5))
@example("0x2F")
@example("a.x2F")
@example("..x2F")
@example(".x2F")
@example("\n")
def test_a_key_comes_back_from_its_name(key: str) -> None:
    name = stream_name(key) if len(key.encode()) <= 16 else "short"
    assert re.search(STREAM_NAME_PATTERN, name)
    assert key_of_stream(name) == (key if name != "short" else "short")


@given(st.from_regex(STREAM_NAME_PATTERN, fullmatch=True))
@example("a.x2F")
def test_a_name_comes_back_from_its_key_or_has_none(name: str) -> None:
    if not re.search(r"(^0|\.)x[0-9A-F]{2}", name):
        assert key_of_stream(name) == name
    with contextlib.suppress(ValueError):
        assert stream_name(key_of_stream(name)) == name


@pytest.mark.parametrize("name", ["a.x41", "0x41", "a.xFF", "a.xC3"])
def test_a_name_that_no_key_has_is_explained(name: str) -> None:
    with pytest.raises(ValueError, match=f"no key has a stream named '{name}'"):
        key_of_stream(name)


def test_ordinary_keys_are_names_already() -> None:
    for key in ("customer-17", "model_v1.20", "0", "A.b-c_d", "x" * 64):
        assert stream_name(key) == key


@pytest.mark.parametrize("key", ["", "x" * 65, "/" * 17])
def test_a_key_without_a_name_is_explained(key: str) -> None:
    with pytest.raises(ValueError, match="between 1 and 64"):
        stream_name(key)
