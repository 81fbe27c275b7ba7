"""`python -m benchmarks.peers.table`: every named method on one stream, as a table and a figure."""

from __future__ import annotations

import argparse
from pathlib import Path

from localarc.streams import heteroscedastic
from localarc_lab.compare import Comparison, compare
from localarc_lab.compare.methods import KNOWN

ALPHA, ROUNDS, SEED = 0.1, 6000, 0
_OMITTED = "us/round"  # which differs between runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, help="Where to save the figure.")
    parser.add_argument("--jobs", type=int, default=1, help="Number of processes.")
    options = parser.parse_args()
    found = compare(list(KNOWN), heteroscedastic(ROUNDS, SEED), alpha=ALPHA, jobs=options.jobs)
    print(markdown(found))
    if options.figure is not None:
        draw(found, options.figure)


def markdown(found: Comparison) -> str:
    head, rows = found.table(ALPHA)
    keep = [i for i, name in enumerate(head) if name != _OMITTED]
    lines = [[head[i].replace("|", "\\|") for i in keep], ["---"] * len(keep)]
    lines += [[row[i] for i in keep] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def draw(found: Comparison, path: Path) -> None:
    from matplotlib.figure import Figure

    from localarc.figures import method_trade_off

    places = {result.method: result.neighbourhoods[1] for result in found.at(ALPHA)}
    points = {
        result.method: (
            result.size,
            places[result.method].risk,
            places[result.method].standard_error,
        )
        for result in found.at(ALPHA)
    }
    figure = Figure(figsize=(8.0, 6.4), layout="constrained")
    method_trade_off(figure.subplots(), points, ALPHA, "risk, worst neighbourhood of 10 %")
    figure.savefig(path, dpi=160)


if __name__ == "__main__":
    main()
