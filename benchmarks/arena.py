"""`python -m benchmarks.arena`: run the arena, and write its tables and figure to docs/arena.md.

About 4 minutes on two free cores. Finished runs are stored in build/arena, and an interrupted run
resumes from them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from localarc_lab import arena
from localarc_lab.arena import Standings
from localarc_lab.arena.report import OURS, draw, left_out_table, stream_table
from localarc_lab.arena.standings import Table
from localarc_lab.arena.suite import ROUNDS
from localarc_lab.compare.places import worst_places

COINS, SEED = 10, 0
_OMITTED = "us/round"  # which differs between runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=-1, help="Number of processes.")
    parser.add_argument("--page", type=Path, default=Path("docs/arena.md"))
    parser.add_argument("--runs", type=Path, default=Path("build/arena/runs"))
    options = parser.parse_args()
    found = arena.run(jobs=options.jobs, folder=options.runs)
    text = options.page.read_text(encoding="utf-8")
    options.page.write_text(fill(text, sections(found)), encoding="utf-8")
    draw(found, options.page.with_suffix(".png"))
    print(f"wrote {options.page} and {options.page.with_suffix('.png')}")


def sections(found: Standings) -> dict[str, str]:
    """What the page states, by the name of its markers."""
    beaten = {f"beaten-{method.lower()}": markdown(*found.beaten_by(method)) for method in OURS}
    return {
        "summary": markdown(*found.summary()),
        "chance": markdown(*chance(found)),
        **beaten,
        "streams": markdown(*stream_table(found)),
        "left-out": markdown(*left_out_table(found)) if found.left_out else "Nothing is left out.",
        "all": "\n\n".join(_stream(found, name) for name in found.comparisons),
    }


def chance(found: Standings) -> Table:
    """What independent losses would show whose mean is the target everywhere: the worst of many."""
    excesses: dict[str, list[float]] = {}
    for entry in found.entries.values():
        stream = entry.load(ROUNDS)
        random = np.random.default_rng(SEED)
        losses = (random.uniform(size=(len(stream), COINS)) < entry.alpha).astype(np.float64)
        for places in worst_places(stream, losses):
            for place in places:
                excess = max(place.risk / entry.alpha - 1.0, 0.0)
                excesses.setdefault(f"worst {place.name}", []).append(excess)
    means = [f"{np.mean(values):.3f}" for values in excesses.values()]
    return ["losses", *excesses], [["coin flips at the target", *means]]


def _stream(found: Standings, name: str) -> str:
    """The whole table of one stream, which a reader unfolds."""
    alpha = found.entries[name].alpha
    head = f"<details><summary>{name}, target {alpha:g}</summary>"
    return f"{head}\n\n{markdown(*found.comparisons[name].table(alpha))}\n\n</details>"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    keep = [i for i, name in enumerate(head) if name != _OMITTED]
    lines = [
        [head[i] for i in keep],
        ["---"] * len(keep),
        *([row[i] for i in keep] for row in rows),
    ]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def fill(text: str, contents: dict[str, str]) -> str:
    """Replace what is between the markers `<!-- name -->` and `<!-- end of name -->`."""
    for name, content in contents.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, opened, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not opened or not closed:
            raise ValueError(f"the page must have a section between {start} and {end}.")
        text = f"{before}{start}\n{content}\n{end}{after}"
    return text


if __name__ == "__main__":
    main()
