"""What importing localarc.many.spark needs, and what it says where PySpark is missing."""

import subprocess
import sys

import pytest

from localarc import ARC
from localarc.many import Columns
from localarc.many.spark import calibrate


@pytest.mark.slow
def test_importing_localarc_spark_imports_neither_spark_nor_pandas() -> None:
    heavy = "{'pyspark', 'pandas', 'pyarrow', 'narwhals'}"
    code = f"import sys, localarc.many.spark; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_pyspark_the_error_names_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match=r"pip install 'localarc\[spark\]'"):
        calibrate(None, Columns(key="key", order="order", score="score"), ARC(0.1))
