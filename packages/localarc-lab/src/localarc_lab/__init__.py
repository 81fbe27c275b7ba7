"""Research around localarc.

peers/        methods that others published, one per file
compare/      several methods on the same rounds, with one table
arena/        a suite of streams, and the standings of all methods on it
experiments/  the paper's experiments
data/         the data sets of both: find, download, verify
cli/          the commands `compare`, `arena`, `reproduce` and `data` of `localarc`
"""
