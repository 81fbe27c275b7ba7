import numpy as np
import pytest

from localarc import ARC, LARC, RBF, replay
from localarc.curves import miscoverage
from localarc.measures import group_risk
from localarc.streams import Stream
from localarc.streams.synthetic import heteroscedastic, spread
from localarc.testing import STRATEGIES, attack


def test_the_same_seed_gives_the_same_stream() -> None:
    one, two, other = (heteroscedastic(100, seed) for seed in (3, 3, 4))
    assert np.array_equal(one.X, two.X)
    assert np.array_equal(one.curves.breakpoints, two.curves.breakpoints)
    assert not np.array_equal(one.X, other.X)


def test_scores_have_the_stated_distribution() -> None:
    stream = heteroscedastic(60_000, seed=0)
    scores = stream.curves.breakpoints[1::2]
    standard = scores / spread(stream.X)
    assert np.sqrt((standard[:30_000] ** 2).mean()) == pytest.approx(1.0, abs=0.01)
    assert np.sqrt((standard[30_000:] ** 2).mean()) == pytest.approx(2.0, abs=0.02)
    assert stream.X.min() >= 0
    assert stream.X.max() <= 1
    still = heteroscedastic(60_000, seed=0, shift=False)
    standard = still.curves.breakpoints[1::2] / spread(still.X)
    assert np.sqrt((standard[30_000:] ** 2).mean()) == pytest.approx(1.0, abs=0.01)


def test_groups_differ_more_with_arc_than_with_larc() -> None:
    stream = heteroscedastic(6000, seed=0)
    cover = {}
    for name, cal in {"arc": ARC(0.1), "larc": LARC(0.1, RBF.from_paper(0.3))}.items():
        run = replay(cal, stream.X, stream.curves, stream.groups)
        cover[name] = {r.group: 1 - r.risk for r in group_risk(run.losses, stream.groups or ())}
    assert cover["arc"]["easy"] > 0.985
    assert 0.70 < cover["arc"]["hard"] < 0.80
    assert cover["larc"]["hard"] - cover["arc"]["hard"] > 0.05
    assert cover["larc"]["easy"] < 0.96


def test_a_stream_iterates_over_its_rounds() -> None:
    stream = heteroscedastic(10, seed=0)
    rounds = list(stream)
    assert len(rounds) == 10
    assert np.array_equal(rounds[3].x, stream.X[3])
    assert rounds[3].group == (stream.groups or ())[3]
    assert rounds[3].curve.loss(-1.0) == 1.0


def test_a_stream_checks_its_lengths() -> None:
    with pytest.raises(ValueError, match="same number of rounds"):
        Stream("odd", np.zeros((3, 1)), miscoverage([0.1]))
    with pytest.raises(ValueError, match="n must be a whole number"):
        heteroscedastic(0, seed=0)
    with pytest.raises(ValueError, match="seed must be a whole number"):
        heteroscedastic(1, seed=-1)


def test_the_adversary_misses_whenever_it_wants_and_can() -> None:
    run = attack(ARC(0.5, 0.1), 200, "always miss")
    assert np.array_equal(run.losses, (run.thresholds < 1.0).astype(float))
    run = attack(ARC(0.5, 0.1, initial_threshold=2.0), 200, "never miss")
    assert np.array_equal(run.losses, (run.thresholds < 0.0).astype(float))
    assert set(STRATEGIES) >= {"long phases", "coin"}
    with pytest.raises(ValueError, match="strategy must be one of always miss"):
        attack(ARC(0.1), 5, "bribe")
