"""Count the faults that tests find: `python -m benchmarks.mutants [FILE ...] [--jobs N]`."""

if __name__ == "__main__":
    from benchmarks.mutants.report import main

    raise SystemExit(main())
