"""Every number of AutoLARC's certificate, recomputed from the log of its rounds."""

from __future__ import annotations

import math

import pytest

from guarantees.auto_game import AutoGame, Stream
from guarantees.oracle_checks import assert_certificate, assert_place
from guarantees.theorem_e_oracle import is_hat
from localarc import AutoLARC
from localarc.guarantees import Evidence

STREAMS = {
    "at once": Stream(),
    "default start": Stream(start=None, groups=("a",)),
    "default start, costly": Stream(
        start=None, limits=(None, 0.3), alpha=0.3, groups=("a",), hopeless=(0, 4)
    ),
    "default start, late": Stream(start=None, delay=4, rounds=300, groups=("a",), alpha=0.3),
    "at most": Stream(two=False),
    "hard": Stream(alpha=1.0, adverse=0.6, bound=2.0, fractional=True),
    "mostly harmless": Stream(harmless=0.9, alpha=0.4),
    "scores that grow": Stream(grows=20.0, alpha=0.3),
    "limits": Stream(limits=(0.2, 1.2), alpha=0.4, grows=2.0),
    "no threshold helps": Stream(rounds=2000, hopeless=(20, 1450), groups=("a",)),
    "costly target": Stream(limits=(0.0, None), alpha=0.7, fractional=True),
    "ceiling, at most": Stream(two=False, limits=(None, 0.9), bound=0.5),
    "a ceiling that costs": Stream(limits=(None, 0.3), alpha=0.3, groups=("a",)),
    "groups": Stream(groups=("a", "b", 3), alpha=0.4, fractional=True, adverse=0.2),
    "late": Stream(rounds=800, delay=2, groups=("a", "b"), alpha=0.4, adverse=0.3),
    "late, harmless": Stream(rounds=300, delay=2, groups=("a",), harmless=0.7, alpha=0.3),
    "late, at most": Stream(
        rounds=400, delay=7, two=False, groups=("a", ("b", 1)), limits=(0.0, None), alpha=0.3
    ),
    "late, limits": Stream(rounds=400, delay=2, limits=(0.1, 0.8), alpha=0.9, bound=2.0),
    "one feature": Stream(d=1, rounds=500, alpha=0.5),
    "two features, late": Stream(d=2, rounds=150, delay=1, groups=("a",), alpha=0.5),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_the_certificate_is_the_theorem_for_the_log(stream: Stream) -> None:
    AutoGame(stream).play()


def test_places_are_the_theorem_for_the_log() -> None:
    for stream in (STREAMS["one feature"], STREAMS["two features, late"]):
        game = AutoGame(stream).play()
        hats = {name for name in game.theorem.sides if is_hat(name)}
        seen = {name: game.theorem.weight(name) for name in hats}
        found = game.cal.places(500, 2.0)
        assert 5 < len(found) <= sum(weight >= 2.0 for weight in seen.values())
        assert [*found] == sorted(found, key=lambda place: -place.deviation)
        assert found[:3] == game.cal.places(3, 2.0)
        for place in (*found, *game.cal.localized_bound(game.draw.input()[0])):
            (name,) = [n for n in hats if centre(game, n) == pytest.approx(place_centre(place))]
            assert_place(place, game.theorem, name)


def centre(game: AutoGame, name: tuple[object, ...]) -> list[float]:
    """Where a hat of the reference is largest, and its width; infinity in other features."""
    d, found = game.stream.d, []
    for i in range(d):
        grid = game.reference.grid[i]
        assert grid is not None
        match name:
            case ("joint", _, scales, corner):
                found += _in_units(grid, i, scales[i], corner[i])  # type: ignore[index]
            case ("single", feature, scale, cell) if feature == i:
                found += _in_units(grid, i, scale, cell)
            case _:
                found += [1e9, 1e9]
    return found


def _in_units(grid: tuple[float, float, int], i: int, scale: object, cell: object) -> list[float]:
    origin, width, _ = grid
    assert isinstance(scale, int)
    assert isinstance(cell, int)
    shift = ((scale + 64) * (i + 1) * 0.46653) % 1.0
    return [origin + (cell - shift) * width / 2.0**scale, width / 2.0**scale]


def place_centre(place: object) -> list[float]:
    pairs = zip(place.centre, place.width, strict=True)  # type: ignore[attr-defined]
    return [1e9 if value is None else value for pair in pairs for value in pair]


def test_a_stated_largest_score_replaces_the_one_seen() -> None:
    game = AutoGame(Stream(alpha=0.2, grows=5.0)).play()
    found = game.cal.certificate(evidence=Evidence((0.0, 50.0)))
    assert_certificate(found, game.theorem, {}, nodes=1, stated=50.0)
    seen = game.cal.certificate(evidence=Evidence((0.0, 50.0), 0, 0, 60))
    assert_certificate(seen, game.theorem, {}, nodes=1)  # of a replay: nothing new


def test_a_log_with_another_loss_is_noticed() -> None:
    game = AutoGame(Stream()).play()
    losses, alpha = game.losses, game.stream.alpha
    for log, gap in (
        ([*losses, alpha], 0.0),
        (losses[1:], abs(losses[0] - alpha)),
        ([*losses[1:], losses[0] + 1e-6], 1e-6),
    ):
        found = game.cal.certificate(losses=log)
        assert not found.consistent
        assert found.consistency_gap == pytest.approx(gap, abs=1e-9)


def test_before_the_first_loss_nothing_holds() -> None:
    for promise in ("both", "at most"):
        found = AutoLARC(0.1, promise=promise).certificate()
        assert not any(bound.holds for bound in (*found.bounds, found.bound))
        assert (found.above.value, found.observed.value) == (math.inf, math.inf)
        assert found.tightest is None
        assert found.to_dict()["risk"] is None
        assert not found.forward(10).holds
        assert not AutoLARC(0.1, promise=promise).certificate().consistency_gap
