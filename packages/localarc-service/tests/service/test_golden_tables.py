"""Stored tables of keyed streams become streams of a service, with the same thresholds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from localarc import Panel
from localarc_client.wire.key_names import key_of_stream
from localarc_service.storage.transfer import read_streams
from many.make_golden_tables import CASES
from many.test_golden_tables import FILES, shown

COMPLETE = [path for path in FILES if not path.stem.endswith(("_pending", "_waiting"))]


@pytest.mark.parametrize("path", COMPLETE, ids=shown)
def test_a_stored_table_becomes_streams(path: Path) -> None:
    panel = Panel.load(path)
    x = np.full(CASES[path.stem][1], 0.5)
    for stream in read_streams(path).values():
        assert (
            stream.method.threshold(x, None)
            == panel.thresholds([key_of_stream(stream.name)], [x])[0]
        )
