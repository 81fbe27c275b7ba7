"""Every number of the certificate of bands, recomputed from the log of forecasts and outcomes."""

from __future__ import annotations

import pytest

from guarantees.bands_game import BandsGame, Forecasts

STREAMS = {
    "two series, two steps": Forecasts(rounds=60),
    "one series": Forecasts(names=("only",), horizon=1, coverage=(0.7,)),
    "late": Forecasts(seen=0.6, rounds=70),
    "one series misses": Forecasts(horizon=1, coverage=(0.6, 0.9), adverse=0.6),
    "mostly exact": Forecasts(names=("only",), horizon=1, coverage=(0.5, 0.9), exact=0.8),
    "three steps": Forecasts(names=("only",), horizon=3, coverage=(0.3, 0.4, 0.95), rounds=50),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_the_certificate_is_the_theorem_for_the_log(
    stream: Forecasts, monkeypatch: pytest.MonkeyPatch
) -> None:
    BandsGame(stream, monkeypatch).play()
