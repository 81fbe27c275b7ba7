"""Calibrated masks and rankings: how much of what is true is found."""

import numpy as np
import pytest

from localarc.models import Calibrated
from localarc.validation import FloatArray


def images(count: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Probabilities of 8 x 8 pixels, and true masks that follow them."""
    random = np.random.default_rng(seed)
    p = random.beta(0.5, 1.0, (count, 8, 8))
    truth = random.uniform(size=p.shape) < p
    truth[:, 0, 0] = True
    return p, truth.astype(float)


def test_masks_find_nine_pixels_in_ten() -> None:
    p, truth = images(1500)
    m = Calibrated(None, coverage=0.9, kind="masks", local=())
    m.update(np.zeros((1500, 1)), truth, prediction=p)
    assert m.summary().levels[0].coverage == pytest.approx(0.9, abs=0.02)
    mask = m.predict_mask(np.zeros((3, 1)), prediction=p[:3])
    assert mask.shape == (3, 8, 8)
    assert 0.2 < mask.mean() < 0.9
    assert str(m.summary()).startswith("Risk")


def test_masks_may_differ_in_shape_and_have_levels() -> None:
    p, truth = images(300)
    ragged = [row[: 4 + t % 3] for t, row in enumerate(p)]
    true = [row[: 4 + t % 3] for t, row in enumerate(truth)]
    m = Calibrated(None, coverage=[0.5, 0.9], kind="masks", local=())
    m.update(np.zeros((300, 1)), true, prediction=ragged)
    found = m.predict_mask(np.zeros((3, 1)), prediction=ragged[:3])
    assert [mask.shape for mask in found] == [(4, 8, 2), (5, 8, 2), (6, 8, 2)]
    assert all((mask[..., 0] <= mask[..., 1]).all() for mask in found)
    batch = m.ask(np.zeros((2, 1)), prediction=ragged[:2])
    m.tell(batch.ids[::-1], true[:2][::-1])
    assert m.summary().levels[0].outcomes == 302


@pytest.mark.parametrize("kind", ["ranking", "top-k"])
def test_a_retrieval_cut_off_keeps_the_recall(kind: str) -> None:
    random = np.random.default_rng(0)
    relevance = random.normal(size=(3000, 30))
    relevant = random.uniform(size=relevance.shape) < 1 / (1 + np.exp(2 - 2 * relevance))
    relevant[np.arange(3000), relevance.argmax(axis=1)] = True
    m = Calibrated(None, coverage=0.9, kind=kind, local=())  # type: ignore[arg-type]
    m.update(np.zeros((3000, 1)), relevant, prediction=relevance)
    assert m.summary().levels[0].coverage == pytest.approx(0.9, abs=0.01)
    found = m.predict_set(np.zeros((100, 1)), prediction=relevance[:100])
    best = np.argsort(-relevance[:100], axis=1)
    for row, order, size in zip(np.asarray(found), best, found.sizes, strict=True):
        assert row[order[:size]].all()  # the most relevant come first
    if kind == "top-k":
        assert len(set(found.sizes)) == 1
