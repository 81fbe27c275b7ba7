"""Files on top of states, for what is no calibrator of thresholds alone."""

from pathlib import Path
from typing import Any

import pytest

from localarc import Gate, LabelSets, StateError
from localarc.forecasting import Bands


@pytest.mark.parametrize("made", [Gate(0.1), LabelSets(0.1), Bands()], ids=lambda made: repr(made))
def test_the_error_of_a_damaged_file_names_the_file(made: Any, tmp_path: Path) -> None:
    path = tmp_path / "stored"
    made.save(path)
    assert type(type(made).load(path)) is type(made)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StateError, match=str(path)):
        type(made).load(path)
