"""The runner: every method on every stream of the arena, in parallel, and resumed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from localarc.streams import Stream
from localarc_lab.arena.entry import Entry
from localarc_lab.arena.standings import Standings
from localarc_lab.arena.suite import QUICK_ROUNDS, ROUNDS, SUITE
from localarc_lab.arena.yardstick import hindsight
from localarc_lab.compare.contest import Contest, Progress, run_contests
from localarc_lab.compare.methods import KNOWN, Methods
from localarc_lab.data import DataError


def run(
    methods: Methods | None = None,
    streams: Sequence[str | Entry] | None = None,
    *,
    quick: bool = False,
    jobs: int = 1,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Standings:
    """Run methods on the streams of the arena, each on the same rounds.

    Streams whose data can neither be found nor downloaded are left out, and named with the reason;
    so are methods that raise an error on a stream, or require features or groups that it lacks.

    Parameters
    ----------
    methods : sequence of str or callable, mapping of names to them, or None, default None
        As for `localarc_lab.compare.compare`; None runs every method that has a name.
    streams : sequence of str or Entry, or None, default None
        Names in `SUITE`, or entries of your own; None runs the whole suite.
    quick : bool, default False
        Use at most 1,000 rounds of each stream instead of 8,000.
    jobs : int, default 1
        Number of processes; -1 uses every core. Only the times depend on it.
    folder : path or None, default None
        Finished runs are stored here, and an interrupted arena resumes from them.
    progress : callable or None, default None
        Called with the numbers of finished and of all runs.

    Returns
    -------
    Standings
        The results, with tables.

    Examples
    --------
    >>> found = run(["auto", "arc"], ["abrupt-swap"], quick=True)
    >>> [result.method for result in found.comparisons["abrupt-swap"].results]
    ['AutoLARC', 'ARC']
    """
    entries = {entry.name: entry for entry in select(streams)}
    rounds = QUICK_ROUNDS if quick else ROUNDS
    wanted = list(KNOWN) if methods is None else methods
    contests, left_out = _contests(entries, wanted, rounds, folder)
    if not contests:
        raise ValueError(f"there is nothing to run. {_reasons(left_out)}")
    run_contests(list(contests.values()), jobs, progress, keep_going=True)
    left_out |= _failures(contests)
    finished = {name: contest for name, contest in contests.items() if contest.done}
    if not finished:
        raise ValueError(f"no method finished. {_reasons(left_out)}")
    return Standings(
        {name: entries[name] for name in finished},
        {name: contest.comparison() for name, contest in finished.items()},
        {name: hindsight(c.stream.curves, entries[name].alpha) for name, c in finished.items()},
        left_out,
        quick,
    )


def _contests(
    entries: Mapping[str, Entry],
    methods: Methods,
    rounds: int,
    folder: str | os.PathLike[str] | None,
) -> tuple[dict[str, Contest], dict[str, str]]:
    """The contests by stream, and what is left out of them."""
    contests: dict[str, Contest] = {}
    left_out: dict[str, str] = {}
    for name, entry in entries.items():
        try:
            stream = entry.load(rounds)
        except DataError as error:
            left_out[name] = str(error)
            continue
        able, unable = _able(methods, stream)
        left_out |= {f"{method} on {name}": why for method, why in unable.items()}
        if able:
            contests[name] = Contest(able, stream, entry.alpha, folder=folder)
    return contests, left_out


def _failures(contests: Mapping[str, Contest]) -> dict[str, str]:
    return {
        f"{contest.tasks[number][0].title} on {name}": str(error)
        for name, contest in contests.items()
        for number, error in contest.failed.items()
    }


def _reasons(left_out: Mapping[str, str]) -> str:
    return " ".join(f"{name} is left out: {why}" for name, why in left_out.items())


def select(streams: Sequence[str | Entry] | None) -> list[Entry]:
    """Return the entries of the given names; raise for unknown or repeated ones."""
    if streams is None:
        return list(SUITE.values())
    unknown = [name for name in streams if isinstance(name, str) and name not in SUITE]
    if unknown:
        raise ValueError(
            f"there is no stream {unknown[0]!r}. Known are {', '.join(SUITE)}; a stream of your "
            "own is a file such as my.toml."
        )
    found = [SUITE[each] if isinstance(each, str) else each for each in streams]
    names = [entry.name for entry in found]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated or not found:
        raise ValueError(
            f"streams must be at least one, and differ in their names, got {', '.join(names)}."
        )
    return found


def _able(methods: Methods, stream: Stream) -> tuple[Methods, dict[str, str]]:
    """The methods that can run on a stream, and why others cannot."""
    has = {"features": stream.X.shape[1] > 0, "groups": stream.groups is not None, "": True}
    sources = list(methods.values() if isinstance(methods, Mapping) else methods)
    unable = {
        source: f"it requires {KNOWN[source].needs}"
        for source in sources
        if isinstance(source, str) and source in KNOWN and not has[KNOWN[source].needs]
    }
    if isinstance(methods, Mapping):
        return {t: source for t, source in methods.items() if source not in unable}, unable
    return [source for source in sources if source not in unable], unable
