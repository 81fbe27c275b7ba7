"""Tables of scikit-learn, statsmodels, river and scikit-multiflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.models import wheel_data
from benchmarks.models.streams import Rows, table

COVER = ("Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology")


# ---- numbers -------------------------------------------------------------------------------------


def doctor_visits() -> Rows:
    """Visits to a doctor in a year, from insurance and health."""
    from statsmodels.datasets import randhie

    known = randhie.load_pandas().data
    columns = [name for name in known.columns if name != "mdvis"]
    return Rows(table(columns, known), known["mdvis"].to_numpy(np.float64))


def affairs() -> Rows:
    """Time spent in affairs, from a questionnaire."""
    from statsmodels.datasets import fair

    known = fair.load_pandas().data
    columns = [name for name in known.columns if name != "affairs"]
    return Rows(table(columns, known), known["affairs"].to_numpy(np.float64))


def carbon_dioxide() -> Rows:
    """Change of the concentration above Mauna Loa in four weeks, from the past year."""
    from statsmodels.datasets import co2

    weekly = co2.load_pandas().data["co2"].interpolate()
    lags = {f"change {weeks} weeks ago": weekly.diff(4).shift(weeks) for weeks in (4, 8, 48, 52)}
    time = {"week": pd.Series(weekly.index.isocalendar().week.to_numpy(), weekly.index)}
    X = pd.DataFrame({**lags, **time}).dropna().astype(np.float64)
    return Rows(X.reset_index(drop=True), weekly.diff(4)[X.index].to_numpy(np.float64))


def diabetes() -> Rows:
    """Progression of diabetes after a year, from ten measurements."""
    from sklearn.datasets import load_diabetes

    found = load_diabetes(as_frame=True, scaled=False)
    return Rows(found.data.astype(np.float64), found.target.to_numpy(np.float64))


def water_flow() -> Rows:
    """Flow of a water network, from the hour before and the day before."""
    from river.datasets import WaterFlow

    rounds = [*WaterFlow()]
    flow = pd.Series([y for _, y in rounds])
    X = pd.DataFrame(
        {
            "hour": [float(x["Time"].hour) for x, _ in rounds],
            "flow before": flow.shift(1),
            "flow a day before": flow.shift(24),
        }
    ).dropna()
    return Rows(X.reset_index(drop=True), flow[X.index].to_numpy(np.float64))


def approval() -> Rows:
    """Approval of a president, from five polls."""
    from river.datasets import TrumpApproval

    X, y = _river(TrumpApproval())
    return Rows(X, y.astype(np.float64))


def chicks() -> Rows:
    """Weight of chicks, from age and diet, in the order of their age."""
    from river.datasets import ChickWeights

    X, y = _river(ChickWeights())
    diet = pd.get_dummies(X["diet"], prefix="diet", dtype=np.float64)
    groups = X["diet"].to_numpy(int).astype(str)
    return Rows(pd.concat([X[["time"]], diet], axis=1), y.astype(np.float64), groups)


def elevation() -> Rows:
    """Elevation of a piece of forest, from its surroundings and trees."""
    known = wheel_data.read("covtype")
    columns = [name for name in known.columns if name not in ("Elevation", "Cover_Type")]
    return Rows(table(columns, known), known["Elevation"].to_numpy(np.float64))


# ---- labels --------------------------------------------------------------------------------------


def forest() -> Rows:
    """The kind of forest, of seven."""
    known = wheel_data.read("covtype")
    columns = [name for name in known.columns if name != "Cover_Type"]
    return Rows(table(columns, known), known["Cover_Type"].to_numpy(str))


def rain() -> Rows:
    """Whether it rained on a day, over fifty years."""
    known = wheel_data.read("weather")
    labels = np.where(known["target"].to_numpy() == 1, "rain", "dry")
    return Rows(known.drop(columns="target").astype(np.float64), labels)


def bananas() -> Rows:
    """Which of two banana-shaped clusters."""
    from river.datasets import Bananas

    X, y = _river(Bananas())
    return Rows(X, np.where(y.astype(bool), "second", "first"))


def segments() -> Rows:
    """What a segment of an image shows, of seven."""
    from river.datasets import ImageSegments

    X, y = _river(ImageSegments())
    return Rows(X, y.astype(str))


def digits() -> Rows:
    """Handwritten digits of 8 x 8 pixels."""
    from sklearn.datasets import load_digits

    found = load_digits(as_frame=True)
    return Rows(found.data.astype(np.float64), found.target.to_numpy().astype(str))


def visits_by_number() -> Rows:
    """No visit to a doctor in a year, one to three, or more."""
    rows = doctor_visits()
    names = np.array(["none", "1 to 3", "more"])
    return Rows(rows.X, names[(rows.y > 0).astype(int) + (rows.y > 3)])


def any_affair() -> Rows:
    """Whether the questionnaire admits an affair."""
    rows = affairs()
    return Rows(rows.X, np.where(rows.y > 0, "yes", "no"))


def _river(rounds: Any) -> tuple[pd.DataFrame, Any]:
    inputs, outcomes = zip(*rounds, strict=True)
    return pd.DataFrame([*inputs]).astype(np.float64), np.array(outcomes)
