"""Calibrated: a model whose prediction sets keep their promise, online."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from localarc import atomic_write, serialization, validation
from localarc.algorithms import Algorithm
from localarc.models import difficulty as difficulties
from localarc.models import one_row, predictors, storage
from localarc.models.calibration import Calibration, Reading
from localarc.models.columns import Columns, Local
from localarc.models.features import Period
from localarc.models.few_outcomes import warn_few_outcomes
from localarc.models.kinds import IntervalKind, KindName, LabelKind, MemberKind, kind_named
from localarc.models.levels import checked_coverages
from localarc.models.predictors import Model
from localarc.models.results import Batch, ranked, shown
from localarc.models.starting_rows import StartingRows, fit_difficulty
from localarc.models.summary import Summary, summarize
from localarc.sets import Intervals, LabelMatrix
from localarc.tables.frames import rows_of
from localarc.tables.rows import ColumnName, Rows, Table, require_rows
from localarc.validation import FloatArray, IntArray


class Calibrated(BaseEstimator):  # type: ignore[misc]
    """A model with prediction sets that are right as often as promised, on any data.

    `predict_interval`, `predict_set` and `predict_mask` change nothing. `update(X, y)` learns from
    rows in order, each with the set that it would have had then. When outcomes come later, `ask(X)`
    returns sets with ids, and `tell(ids, y)` learns from their outcomes in any order.

    Coverage is kept for all rows, for every group, and around every place that the local columns
    can tell apart, by AutoLARC; or for every true class.

    Parameters
    ----------
    model : estimator, function, pair of quantile models, or None
        What predicts: `predict` (`predict_proba` for classes), or a function from rows to
        predictions. A tuple is a lower and an upper quantile. None: pass `prediction=...` with
        every call. It is used as it is, unless `fit` is called.
    coverage : float or sequence of float, default 0.9
        The share of outcomes to cover. Several levels give nested sets.
    local : "prediction" or sequence of columns, default "prediction"
        Columns that say where a row is, by name in frames and by position in arrays; text becomes
        one feature per category. By default the model's own output, with `per_class` nothing;
        `()` for none.
    groups : sequence of columns, default ()
        Columns whose values are groups, each with a promise of its own. They may overlap.
    kind : str, default "auto"
        Intervals: "symmetric", "asymmetric" (each end misses half), "lower", "upper" (one end).
        Labels: "probability", "aps", "raps", "margin". Shares of what is true: "masks",
        "ranking" (a cut-off on relevance), "top-k". "auto" is "probability" for a classifier, else
        "symmetric".
    per_class : bool, default False
        For labels: whether to cover each true class.
    difficulty : estimator, function, "std" or None, default None
        An estimate of the size of the model's error, by which intervals are scaled. An estimator
        that is not fitted is fitted by `warm_up`; "std" is the model's own standard deviation.
    cyclic : mapping from columns to periods, optional
        Columns of `local` that repeat: `{"hour": 24}`, or, for dates, `{"time": "day"}`.
    classes : sequence of labels, optional
        The labels in the order of the probabilities; by default the model's `classes_`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (2000, 1))
    >>> y = 3 * X[:, 0] + rng.normal(0, 1 + X[:, 0])
    >>> m = Calibrated(lambda X: 3 * X[:, 0], coverage=0.9, local=[0])
    >>> _ = m.update(X, y)
    >>> lower, upper = m.predict_interval(np.array([[1.0], [9.0]]))
    >>> bool(upper[1] - lower[1] > 2 * (upper[0] - lower[0]))
    True
    >>> print(str(m.summary().verdict).split(";")[0])
    Misses 10.1 %, target 10 %

    References
    ----------
    Gibbs and Candès, *Adaptive conformal inference under distribution shift*, NeurIPS 2021.
    Zecchin and Simeone, *Localized adaptive risk control*, NeurIPS 2024.
    """

    algorithm = Algorithm()

    def __init__(
        self,
        model: Model | tuple[Model, Model] | None = None,
        coverage: float | Sequence[float] = 0.9,
        *,
        local: Local = "prediction",
        groups: Sequence[ColumnName] = (),
        kind: KindName = "auto",
        per_class: bool = False,
        difficulty: object = None,
        cyclic: Mapping[ColumnName, Period] | None = None,
        classes: Sequence[object] | NDArray[np.generic] | None = None,
    ) -> None:
        self.model = model
        self.coverage = coverage
        self.local = local
        self.groups = groups
        self.kind = kind
        self.per_class = per_class
        self.difficulty = difficulty
        self.cyclic = cyclic
        self.classes = classes

    # ---- sets --------------------------------------------------------------------------------

    def predict(self, X: Rows) -> NDArray[np.generic]:
        """The model's own predictions; of shape (n, 2) for a pair of quantile models.

        Parameters
        ----------
        X : array or frame
            Rows.
        """
        require_rows(X)
        model = self._model
        if isinstance(model, tuple | list):
            return predictors.prediction(model, X)
        return predictors.call(model, X)

    def predict_interval(self, X: Rows, *, prediction: ArrayLike | None = None) -> Intervals:
        """An interval for each row; changes nothing.

        Parameters
        ----------
        X : array or frame
            Rows.
        prediction : array of shape (n,) or (n, 2), optional
            Predictions made elsewhere; the model is then not called.

        Returns
        -------
        Intervals
            `lower, upper`: arrays, or series with the index of X; a column per level if there are
            several. Infinite while fewer than 1/(1 - coverage) outcomes are known.
        """
        found = self._look(IntervalKind, "predict_interval", X, prediction)
        assert isinstance(found, Intervals)
        return found

    def predict_set(self, X: Rows, *, prediction: ArrayLike | None = None) -> LabelMatrix:
        """A set of labels, or of ranked items, for each row; changes nothing.

        Parameters
        ----------
        X : array or frame
            Rows.
        prediction : array of shape (n, K), optional
            Probabilities, or relevances, made elsewhere; the model is then not called.

        Returns
        -------
        LabelMatrix
            A boolean matrix with `labels` and `sizes`; of shape (n, K, levels) for several levels.
            `to_frame()` is a frame with the index of X, if X is one.
        """
        found = self._look((LabelKind, MemberKind), "predict_set", X, prediction)
        if isinstance(found, LabelMatrix):
            return found
        return ranked(found, Table(X), self._calibration.levels.coverages)

    def predict_mask(self, X: Rows, *, prediction: ArrayLike | None = None) -> NDArray[np.bool_]:
        """The pixels, or items, to return for each row; changes nothing.

        Parameters
        ----------
        X : array or frame
            Rows.
        prediction : array of shape (n, ...), or sequence of n arrays, optional
            Probabilities made elsewhere; the model is then not called.

        Returns
        -------
        array of bool, or list of these if rows differ in shape
            As the predictions; with a last axis of levels if there are several.
        """
        found: NDArray[np.bool_] = self._look(MemberKind, "predict_mask", X, prediction)
        return found

    def _look(self, kinds: Any, method: str, X: Any, prediction: Any) -> Any:
        calibration = self._calibration
        if not isinstance(calibration.kind, kinds):
            raise TypeError(
                f"{method} does not apply to kind={self.kind!r} with this model, which makes "
                f"{_METHODS[type(calibration.kind)]}."
            )
        rows = self._read(X, prediction)
        return self._sets(rows, calibration.look(rows))

    def _sets(self, rows: Reading, thresholds: FloatArray) -> Any:
        if not np.isfinite(thresholds).all():
            self._warn()
        return shown(self._calibration, rows, thresholds, single=np.ndim(self.coverage) == 0)

    def _warn(self) -> None:
        if not self.__dict__.get("_warned"):
            self._warned = True
            levels = self._calibration.levels
            warn_few_outcomes(levels.rounds, levels.needed(-1))

    # ---- learning ----------------------------------------------------------------------------

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Fit a clone of the model, and forget what was learned about its errors.

        Parameters
        ----------
        X : array or frame
            Rows to train on. Rows for `warm_up` and `update` must be others.
        y : array of shape (n,)
            Their outcomes.
        """
        validation.distinct_columns("X", X)
        fitted = clone(self.model).fit(X, y)
        self.reset()
        self.model_ = fitted
        return self

    def warm_up(self, X: Rows, y: ArrayLike, *, prediction: ArrayLike | None = None) -> Self:
        """Start from rows whose outcomes are known, on which the model was not trained.

        They fix the categories of text columns, fit the difficulty (on the first half, if it needs
        fitting), and are then learned from in order, as in `update`.

        Parameters
        ----------
        X : array or frame
            Rows.
        y : array of shape (n,)
            Their outcomes.
        prediction : array, optional
            Predictions made elsewhere; the model is then not called.
        """
        with self._unchanged_on_failure():
            self._calibration.warm_up(*self._prepare(X, y, prediction))
        return self

    def update(self, X: Rows, y: ArrayLike, *, prediction: ArrayLike | None = None) -> Self:
        """Learn from rows in order, each with the set that it would have had then.

        Parameters
        ----------
        X : array or frame
            Rows, in chronological order.
        y : array of shape (n,), or for masks and rankings n arrays of 0 and 1
            Their outcomes.
        prediction : array, optional
            Predictions made elsewhere; the model is then not called.
        """
        rows_of(X, y)  # raises if their indexes differ
        self._calibration.learn(self._read(X, prediction), y)
        return self

    def ask(self, X: Rows, *, prediction: ArrayLike | None = None) -> Batch:
        """Sets to show for rows whose outcomes come later.

        The rows of one call are all pending at once: with n rows per call, the guarantee is about
        as tight as after rounds / n.

        Parameters
        ----------
        X : array or frame
            Rows.
        prediction : array, optional
            Predictions made elsewhere; the model is then not called.

        Returns
        -------
        Batch
            `ids` for `tell`, and `sets`.
        """
        rows = self._read(X, prediction)
        ids, shown = self._calibration.ask(rows)
        return Batch(ids, self._sets(rows, shown))

    def tell(self, ids: ArrayLike, y: ArrayLike) -> Self:
        """Learn from the outcomes of rows that were asked, in any order.

        Parameters
        ----------
        ids : array of int, or int
            Ids from `ask`; each once.
        y : array of shape (n,), or one outcome
            Their outcomes.
        """
        single = not hasattr(ids, "__len__") or getattr(ids, "ndim", 1) == 0
        self._calibration.tell(ids, [y] if single else y)
        return self

    def forget(self, ids: ArrayLike) -> Self:
        """Stop waiting for the outcomes of rows: they count as missed as often as promised.

        Parameters
        ----------
        ids : array of int, or int
            Ids from `ask`.
        """
        self._calibration.forget(ids)
        return self

    @property
    def pending(self) -> IntArray:
        """The ids of rows asked whose outcome is pending."""
        calibration = self._calibration
        return calibration.alone(lambda: np.array([*calibration.pending.rows], np.int64))

    def reset(self) -> Self:
        """Forget what was learned; the settings and the model stay."""
        for name in ("_running", "model_", "difficulty_"):
            self.__dict__.pop(name, None)
        self._warned = False  # of sets that are unbounded
        return self

    def summary(self) -> Summary:
        """Whether the promise is kept, then coverage by group and neighbourhood; `print` it.

        It leads with what is above the target by more than chance: a group, a neighbourhood, or a
        third of any column of numbers that X has, named or not. Thirds come from a sample of at
        most 8,192 rows and 524,288 values, and of at most 1,024 columns. Rows of a warm-up are
        counted apart, and a row that was shown an unbounded set is no miss.
        """
        calibration = self._calibration
        return calibration.alone(lambda: summarize(calibration))

    def replace_model(
        self,
        model: Model | tuple[Model, Model],
        X: Rows | None = None,
        y: ArrayLike | None = None,
        *,
        difficulty: object = None,
    ) -> Self:
        """Continue with a retrained model: its errors are learned anew, and the promise continues.

        Parameters
        ----------
        model : estimator, function or pair
            The new model, of the same kind.
        X, y : array or frame, and array; optional
            Rows with outcomes to start from, as in `warm_up`.
        difficulty : estimator, function, "std" or None, default None
            Its difficulty, if it differs from the constructor's.
        """
        calibration = self._calibration
        if len(calibration.pending):
            raise RuntimeError(
                f"{len(calibration.pending)} rows of the old model are pending. Tell their "
                "outcomes, or forget them, before the model is replaced."
            )
        known = getattr(model, "classes_", None)
        mine = calibration.kind.classes if isinstance(calibration.kind, LabelKind) else None
        if mine is not None and known is not None and tuple(known) != mine:
            raise ValueError(
                f"the new model has other classes, {[*known]!r:.200}. Start a new Calibrated."
            )
        if (X is None) != (y is None):
            raise ValueError("rows to start from need both X and y, or neither.")
        with self._unchanged_on_failure():
            self._use(model, difficulty)
            rows = None if X is None else self._prepare(X, y, None)
            calibration.restart_units()
        if rows is not None:
            calibration.warm_up(*rows)
        return self

    def _use(self, model: Any, difficulty: Any) -> None:
        """Another model, and its difficulty."""
        self.model = self.model_ = model
        if difficulty is not None:
            self.difficulty = difficulty
        self.__dict__.pop("difficulty_", None)
        kind = self._calibration.kind
        if isinstance(kind, IntervalKind):
            self._calibration.use(replace(kind, difficulty=self.difficulty, least_scale=0.0))

    # ---- one row at a time, as in river ------------------------------------------------------

    def predict_one(
        self, x: Mapping[str, object], *, with_interval: bool = False, with_set: bool = False
    ) -> object:
        """The prediction for one row, or its set; changes nothing.

        Parameters
        ----------
        x : mapping
            The features by name. A model with `predict_one` receives it as it is, others an array
            (or a frame, if they were fitted with names) with these columns in this order.
        with_interval : bool, default False
            Whether to return the interval, with `lower` and `upper`.
        with_set : bool, default False
            Whether to return the labels in the set.

        Returns
        -------
        object
            The prediction; an `Interval` or a tuple of labels; a list of these for several levels.
        """
        if not with_interval and not with_set:
            return one_row.predict(self._model, x)
        rows = self._read_one(x)
        return one_row.only(self._sets(rows, self._calibration.look(rows)))

    def learn_one(self, x: Mapping[str, object], y: object) -> None:
        """Learn from the outcome of one row, and train a model that has `learn_one`.

        Parameters
        ----------
        x : mapping
            The features by name.
        y : float or label
            The outcome.
        """
        self._calibration.learn(self._read_one(x), np.array([y]))
        if hasattr(self._model, "learn_one"):
            self._model.learn_one(x, y)

    def _read_one(self, x: Mapping[str, object]) -> Reading:
        kind = self._calibration.kind
        given = one_row.output(self._model, x, kind)
        return self._calibration.read(self._model, x, given, many=False)

    # ---- state -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the model and the difficulty to a file, completely or not at all.

        Parameters
        ----------
        path : path
            The file to write; its folder must exist.
        """
        calibration, settings = self._calibration, self.get_params(deep=False)
        data = calibration.alone(lambda: storage.encode(settings, calibration))
        atomic_write.write(path, data)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        model: Model | tuple[Model, Model] | None,
        difficulty: object = None,
    ) -> Self:
        """Read a file written by `save`, with its pending rows.

        Parameters
        ----------
        path : path
            The file to read.
        model : estimator, function, pair or None
            The model that was calibrated.
        difficulty : estimator, function, "std" or None, default None
            Its difficulty, as fitted: `difficulty_`, if `warm_up` fitted it.
        """
        stored = storage.decode(serialization.read(path))
        storage.check_difficulty(stored, difficulty)
        with serialization.damaged_unless_read():
            made = cls(model, difficulty=difficulty, **stored.settings)
            storage.restore(made.reset()._calibration, stored)
        return made

    # ---- parts -------------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """The number of features that the model was fitted with."""
        return int(self._model.n_features_in_)

    def __copy__(self) -> Self:
        """A separate calibration: nothing that was learned is shared, nor is the model."""
        return copy.deepcopy(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.model, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.model).input_tags
        return tags

    @property
    def _model(self) -> Any:
        return self.__dict__.get("model_", self.model)

    @property
    def _calibration(self) -> Calibration:
        """What was learned; made at the first use, because a constructor only stores settings."""
        if "_running" not in self.__dict__:
            used = self.__dict__.get("difficulty_", self.difficulty)
            kind = kind_named(self.kind, self._model, self.classes, used)
            per_class = validation.flag("per_class", self.per_class, "It covers each true class.")
            if per_class and not isinstance(kind, LabelKind):
                raise ValueError("per_class=True applies to label sets; the model predicts none.")
            # Places for each label have too few rows: sets would be up to a quarter larger.
            local = () if per_class and self.local == "prediction" else self.local
            columns = Columns(local, self.groups, {} if self.cyclic is None else self.cyclic)
            self._running = Calibration(kind, checked_coverages(self.coverage), columns, per_class)
        return self._running

    def _read(self, X: Any, prediction: Any, *, many: bool = False) -> Reading:
        """Rows, checked, with the model's output."""
        require_rows(X)
        return self._calibration.read(self._model, X, prediction, many=many)

    def _prepare(self, X: Any, y: Any, given: Any) -> tuple[Reading, Any]:
        """Rows to start from, read and checked; with what they fix: categories, the difficulty."""
        require_rows(X)
        rows_of(X, y)  # raises if their indexes differ
        calibration = self._calibration
        calibration.columns.features = calibration.columns.fixed(Table(X), True)
        if difficulties.needs_fit(self.difficulty) and "difficulty_" not in self.__dict__:
            start = StartingRows(X, y, given)
            kind, (X, y, given) = fit_difficulty(
                calibration.kind, self._model, self.difficulty, start
            )
            self.difficulty_ = kind.difficulty
            calibration.use(kind)
        rows = self._read(X, given, many=True)
        calibration.kind.curves(rows.outputs, y)  # raises where outcomes do not fit
        return rows, y

    @contextlib.contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        """Go back to the model, the kind and the categories, unless rows were learned since."""
        calibration = self._calibration
        calibration.settle()
        before, learned = self.__dict__.copy(), calibration.levels.rounds
        kind, features = calibration.kind, calibration.columns.features
        try:
            yield
        except BaseException:
            if calibration.levels.rounds == learned:
                self.__dict__.clear()
                self.__dict__.update(before)
                calibration.use(kind)
                calibration.columns.features = features
            raise


_METHODS = {
    IntervalKind: "intervals: use predict_interval",
    LabelKind: "sets of labels: use predict_set",
    MemberKind: "sets of pixels or items: use predict_mask or predict_set",
}
