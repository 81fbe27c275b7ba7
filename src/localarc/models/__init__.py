"""Wrap a model, get prediction sets that keep their promise: `Calibrated`."""

try:
    import narwhals  # noqa: F401
    import sklearn  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError(
        f"localarc.models needs {error.name}: pip install 'localarc[models]'."
    ) from error

from localarc.models.calibrated import Calibrated
from localarc.models.few_outcomes import FewOutcomesWarning
from localarc.models.locked import Locked
from localarc.models.results import Batch
from localarc.models.summary import Coverage, LevelSummary, Summary

__all__ = [
    "Batch",
    "Calibrated",
    "Coverage",
    "FewOutcomesWarning",
    "LevelSummary",
    "Locked",
    "Summary",
]
