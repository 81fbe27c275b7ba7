"""The beams experiment: its parts by hand, and whole runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from experiments.commands import assert_one_sentence, reproduce, results, written
from localarc import KeepLast, Mondrian, replay
from localarc_lab.experiments import Beams, Method, Plan, Task, run
from localarc_lab.experiments.beams import codebook, experiment, predictor, radio, users
from localarc_lab.experiments.beams.equal_size import match_size
from localarc_lab.experiments.beams.grid import Grid, means
from localarc_lab.experiments.beams.measurements import (
    SAME_SIZE,
    SCORE_RANGE,
    SHOWN,
    TARGETS,
    City,
    setting_name,
)
from localarc_lab.experiments.beams.raytracer import (
    AREA,
    Box,
    Scene,
    Transmitter,
    city,
    outdoors,
    urban,
)
from localarc_lab.experiments.beams.users import NEAR, Numbers, Trial, Users

SMALL = Numbers(training=300, calibration=1500, test=1500)
METHODS = "ARC,Mondrian,L-ARC l=100"


@pytest.fixture(scope="module")
def trial() -> Trial:
    return users.draw(city(), radio.PAPER, SMALL, np.random.default_rng(0), "images")


# ---- beams, fading, gains ------------------------------------------------------------------------


@pytest.mark.parametrize(("antennas", "beams"), [(8, 11), (4, 4), (3, 7)])
def test_fourier_beams_have_norm_one_and_cover_all_directions_alike(
    antennas: int, beams: int
) -> None:
    book = codebook.fourier(antennas, beams)
    assert np.linalg.norm(book, axis=1) == pytest.approx(np.ones(beams))
    frame = book.T @ book.conj()
    assert np.abs(frame - beams / antennas * np.eye(antennas)).max() < 1e-12


def test_as_many_fourier_beams_as_antennas_are_orthonormal() -> None:
    book = codebook.fourier(8, 8)
    assert np.abs(book @ book.conj().T - np.eye(8)).max() < 1e-12


def test_released_beams_turn_half_a_circle_and_are_not_normalised() -> None:
    book = codebook.half_turn(8, 11)
    steps = np.angle(book[:, 1] / book[:, 0])
    assert steps == pytest.approx(np.linspace(-np.pi / 2, np.pi / 2, 11))
    assert np.linalg.norm(book, axis=1) == pytest.approx(np.full(11, np.sqrt(8)))


def test_a_wave_has_the_largest_gain_with_its_matching_beam() -> None:
    book = codebook.fourier(8, 11)
    found = radio.gains(book.conj() * 1e-3, book)
    assert found.argmax(axis=1).tolist() == list(range(11))
    assert np.diag(found) == pytest.approx(np.full(11, 1e-3))


def test_fading_on_antennas_is_rayleigh_in_every_beam() -> None:
    silent = np.zeros((20_000, 8), dtype=np.complex128)
    found = radio.faded_antennas(silent, codebook.fourier(8, 11), np.random.default_rng(0))
    mean = radio.SIGMA * np.sqrt(np.pi / 2)  # of a Rayleigh variable
    assert found.mean(axis=0) == pytest.approx(np.full(11, mean), rel=0.02)


def test_fading_on_gains_only_raises_them() -> None:
    channels = np.full((1000, 8), 1e-4 + 0j)
    book = codebook.half_turn(8, 11)
    found = radio.faded_gains(channels, book, np.random.default_rng(0))
    assert (found > radio.gains(channels, book)).all()


# ---- the predictor -------------------------------------------------------------------------------


def _two_halves(number: int, random: np.random.Generator) -> tuple[Any, Any]:
    """The first beam is strong in the west, the second in the east."""
    inputs = random.uniform(-1, 1, (number, 2))
    west = inputs[:, 0] < 0
    return inputs, np.column_stack([np.where(west, 9.0, 1.0), np.where(west, 1.0, 9.0)])


def test_the_predictor_learns_which_half_is_whose() -> None:
    random = np.random.default_rng(0)
    network = predictor.train(*_two_halves(500, random), random, steps=800)
    inputs, gains = _two_halves(500, random)
    shares = network.shares(inputs)
    assert np.mean(shares.argmax(axis=1) == gains.argmax(axis=1)) > 0.97
    far = np.abs(inputs[:, 0]) > 0.3
    assert np.abs(shares - gains / 10)[far].max() < 0.1


def test_training_lowers_the_cross_entropy_to_the_entropy_of_the_shares() -> None:
    random = np.random.default_rng(1)
    inputs, gains = _two_halves(500, random)
    before = predictor.cross_entropy(predictor.train(inputs, gains, random, 0), inputs, gains)
    after = predictor.cross_entropy(predictor.train(inputs, gains, random, 800), inputs, gains)
    least = -(0.9 * np.log(0.9) + 0.1 * np.log(0.1))
    assert least < after < least + 0.05 < before


def test_gradients_are_those_of_finite_differences() -> None:
    random = np.random.default_rng(2)
    inputs, gains = _two_halves(20, random)
    network = predictor.train(inputs, gains, random, 0)
    target = gains / gains.sum(axis=1, keepdims=True)
    found = predictor._gradients(network.layers, inputs, target)
    for number, (weight, gradient) in enumerate(
        zip([part for layer in network.layers for part in layer], found, strict=True)
    ):
        place = np.unravel_index(number % weight.size, weight.shape)
        step = 1e-6
        weight[place] += step
        above = predictor.cross_entropy(network, inputs, gains)
        weight[place] -= 2 * step
        below = predictor.cross_entropy(network, inputs, gains)
        weight[place] += step
        assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-6)


def test_the_network_is_the_papers_size(trial: Trial) -> None:
    network = predictor.train(np.zeros((10, 2)), np.ones((10, 11)), np.random.default_rng(0), 1)
    assert [matrix.shape for matrix, _ in network.layers] == [(2, 16), (16, 16), (16, 11)]
    assert trial.test.shares.sum(axis=1) == pytest.approx(np.ones(len(trial.test)))
    assert trial.hits > 0.5  # a blind guess is right once in eleven


# ---- users and sets ------------------------------------------------------------------------------


def test_an_empty_set_has_loss_one_and_a_full_set_loss_zero(trial: Trial) -> None:
    curves, number = trial.test.curves(), len(trial.test)
    assert (curves.losses_at(np.full(number, -1.1)) == 1).all()
    assert (curves.sizes_at(np.full(number, -1.1)) == 0).all()
    assert (curves.losses_at(np.zeros(number)) == 0).all()
    assert (curves.sizes_at(np.zeros(number)) == 11).all()
    assert (trial.test.served(np.ones(number)) == 0).all()


def test_a_set_by_hand() -> None:
    one = Users(np.zeros((1, 2)), np.array([[4.0, 1.0, 2.0]]), np.array([[0.2, 0.5, 0.3]]),
                np.array([True]))  # fmt: skip
    curves = one.curves()
    assert [curves.losses_at([at])[0] for at in (-0.6, -0.5, -0.3, -0.2)] == [1, 0.75, 0.5, 0]
    assert one.served(curves.losses_at([-0.3])) == pytest.approx([2.0])


def test_users_are_outdoors_in_the_area_and_have_a_path(trial: Trial) -> None:
    for part, number in ((trial.calibration, SMALL.calibration), (trial.test, SMALL.test)):
        assert len(part) == number
        assert outdoors(city(), np.column_stack([part.positions, np.ones(number)])).all()
        assert Grid(AREA, 10.0).counts(part.positions).sum() == number
    assert 0 < trial.reached <= 1


def test_users_without_a_path_are_excluded() -> None:
    wall = Box((-60.0, -49.0, 0.0), (69.0, 20.0, 25.0))
    scene = Scene(Transmitter((0.0, -60.0, 20.0)), (wall,))
    few = Numbers(100, 10, 200)
    found = users.draw(scene, radio.PAPER, few, np.random.default_rng(0), "images")
    assert found.reached < 0.9
    behind = (found.test.positions[:, 1] > 20) & (np.abs(found.test.positions[:, 0]) < 40)
    assert not behind.any()


def test_a_city_without_paths_is_rejected() -> None:
    pit = Box((-70.0, -59.0, 0.0), (70.0, -51.0, 400.0))
    scene = Scene(Transmitter((0.0, -60.0, 1.0), azimuth=90.0), (pit,))
    with pytest.raises(ValueError, match="users have a path from the transmitter"):
        users.draw(scene, radio.PAPER, Numbers(10, 10, 10), np.random.default_rng(0), "images")


def test_the_split_is_by_distance_from_the_transmitter(trial: Trial) -> None:
    x, y, _ = city().transmitter.position
    distance = np.hypot(trial.test.positions[:, 0] - x, trial.test.positions[:, 1] - y)
    assert (trial.test.near == (distance <= NEAR)).all()
    assert 0.05 < trial.test.near.mean() < 0.95
    assert set(trial.test.groups()) == {"near", "far"}


def test_mondrian_keeps_a_threshold_for_each_side_of_the_border(trial: Trial) -> None:
    calibrator = Method(per_group=True).calibrator(0.2, SCORE_RANGE)
    part = trial.calibration
    record = replay(calibrator, part.positions, part.curves(), part.groups())
    assert isinstance(calibrator, Mondrian)
    assert set(calibrator.calibrators) == {"near", "far"}
    alone = Method().calibrator(0.2, SCORE_RANGE)
    near = replay(alone, part.positions[part.near], part.curves().take(part.near))
    assert (record.losses[part.near] == near.losses).all()


# ---- cells and maps ------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.sampled_from([5.0, 7.0, 10.0, 33.0]))
def test_maps_conserve_users(seed: int, side: float) -> None:
    random = np.random.default_rng(seed)
    lower, upper = np.transpose(AREA)
    positions = np.vstack([random.uniform(lower, upper, (50, 2)), [lower, upper]])
    values = random.uniform(size=52)
    grid = Grid(AREA, side)
    assert grid.counts(positions).sum() == 52
    assert grid.sums(positions, values).sum() == pytest.approx(values.sum())
    mean = means(grid.sums(positions, values), grid.counts(positions))
    weighted = np.nansum(mean * grid.counts(positions))
    assert weighted == pytest.approx(values.sum())


def test_the_middle_of_a_cell_is_in_that_cell() -> None:
    grid = Grid(AREA, 5.0)
    assert grid.cell_of(grid.centres()).tolist() == list(range(20 * 28))


def test_a_user_outside_the_area_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"user 1 .* outside the area"):
        Grid(AREA, 10.0).counts(np.array([[0.0, 0.0], [0.0, 99.0]]))


def test_cells_with_few_users_have_no_mean() -> None:
    found = means(np.array([[5.0, 1.0]]), np.array([[10, 9]]), min_count=10)
    assert found[0, 0] == 0.5
    assert np.isnan(found[0, 1])


# ---- methods, targets, sizes ---------------------------------------------------------------------


def test_the_size_is_matched_by_bisection() -> None:
    found = match_size(
        lambda target: Method().calibrator(target, SCORE_RANGE), lambda c: 2.0 - 2.0 * c.alpha, 1.5
    )
    assert found.alpha == pytest.approx(0.25, rel=0.01)


def test_the_memory_study_has_two_windows_and_the_exact_memory() -> None:
    found = Beams().methods(Plan(length_scales=(100.0, 625.0)))
    assert list(found) == [
        *("ARC", "Mondrian", "L-ARC l=100", "L-ARC l=625", "AutoLARC"),
        *("KeepLast(500) l=100", "KeepLast(1000) l=100", "KeepAll l=100"),
    ]
    lean = found["KeepLast(500) l=100"].without_archive()
    assert lean.memory == KeepLast(500, archive=False)
    assert found["ARC"].without_archive() is found["ARC"]


def test_a_task_has_a_row_for_each_target_and_evaluation(trial: Trial) -> None:
    outcome = Beams().perform(City(city(), (trial,)), Task("ARC", None), Method(), Plan())
    settings = [*map(setting_name, TARGETS), SAME_SIZE]
    assert [row["setting"] for row in outcome.rows[::3]] == settings
    for row in outcome.rows:
        assert 0 <= row["risk"] <= row["cell_worst"] <= 1
        assert row["near"] != row["far"]
        quarters = [row[f"risk_quarter_{q}"] for q in (1, 2, 3, 4)]
        assert np.mean(quarters) == pytest.approx(row["risk"])
    matched_row = outcome.rows[-2]
    assert (matched_row["setting"], matched_row["evaluation"]) == (SAME_SIZE, "average")
    assert matched_row["size"] == pytest.approx(1.5, abs=0.05)


# ---- whole runs ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory: Any) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("beams")
    options = ["--quick", "--trials", "1", "--jobs", "1", "--methods", METHODS]
    done = reproduce("beams", out, *options)
    assert done.exit_code == 0, done.stderr
    return out, done


@pytest.mark.slow
def test_a_quick_run_writes_every_file_it_lists(finished: tuple[Path, Result]) -> None:
    out, done = finished
    assert len(written(done)) == 3 + 2 * 8
    for path in written(done):
        assert path.stat().st_size > 500
    found = results(out)
    assert found["command"] == (
        f"localarc reproduce beams --seed 0 --quick --trials 1 --methods '{METHODS}'"
    )
    assert len(found["rows"]) == 3 * (len(TARGETS) + 1) * 3
    assert all(certificate["consistent"] for certificate in found["certificates"])


@pytest.mark.slow
def test_a_part_of_the_memory_study_can_be_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "QUICK_NUMBERS", SMALL)
    plan = Plan(quick=True, trials=1, methods=("KeepLast(500) l=400",), length_scales=(400.0,))
    found = run(Beams(), plan, tmp_path)
    assert [figure.name for figure in found.figures()] == ["deployment"]
    assert {row["setting"] for row in found.rows} == {"0.1"}


@pytest.mark.slow
def test_every_method_meets_its_target_and_only_l_arc_does_so_evenly(
    finished: tuple[Path, Result],
) -> None:
    rows = results(finished[0])["rows"]
    online = {(r["method"], r["setting"]): r for r in rows if r["evaluation"] == "online"}
    for (_, setting), row in online.items():
        assert abs(row["risk"] - row["target"]) < 0.003, setting
    for target in map(setting_name, TARGETS):
        arc, local = online["ARC", target], online["L-ARC l=100", target]
        assert local["cell_std"] < arc["cell_std"]
    shown = setting_name(SHOWN)
    assert online["L-ARC l=100", shown]["cell_std"] < 0.6 * online["ARC", shown]["cell_std"]


@pytest.mark.slow  # plays the experiment three times
def test_the_numbers_do_not_depend_on_the_number_of_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "QUICK_NUMBERS", SMALL)
    plan = Plan(quick=True, trials=1, methods=("ARC", "L-ARC l=100"))
    one, two = (run(Beams(), plan, tmp_path / str(jobs), jobs) for jobs in (1, 2))
    assert one.rows == two.rows


@pytest.mark.slow
def test_the_radio_of_the_released_code_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "QUICK_NUMBERS", Numbers(200, 500, 500))
    plan = Plan(quick=True, trials=1)
    paper, released = Beams().load(plan), Beams(radio="released").load(plan)
    assert Beams().digest(paper) != Beams().digest(released)
    best = [data.trials[0].test.gains.max(axis=1).mean() for data in (paper, released)]
    assert best[1] > 1.5 * best[0]  # its beams are not normalised


def test_random_cities_can_be_chosen() -> None:
    assert Beams(city="urban:3").scene() == urban(3) != urban(4)
    assert Beams().scene() == city()


@pytest.mark.slow
def test_a_trial_is_reproducible_and_differs_from_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(experiment, "QUICK_NUMBERS", Numbers(200, 100, 100))
    first, second = Beams().load(Plan(quick=True)).trials
    (again,) = Beams().load(Plan(quick=True, trials=1)).trials
    assert (again.test.positions == first.test.positions).all()
    assert (again.test.shares == first.test.shares).all()
    assert not np.isin(second.test.positions, first.test.positions).any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "engine=rays"], "engine must be images or sionna, got 'rays'"),
        (["-o", "radio=am"], "radio must be paper or released, got 'am'"),
        (["-o", "data=a.csv"], "beams has no option 'data'. Available: engine, radio, city."),
        (["-o", "city=urban"], "city must be city or urban:SEED"),
        (["--methods", "LARC"], "no method 'LARC'"),
    ],
)
def test_a_bad_option_is_one_sentence(options: list[str], words: str, tmp_path: Path) -> None:
    assert_one_sentence(reproduce("beams", tmp_path, "--quick", *options), words, tmp_path)
