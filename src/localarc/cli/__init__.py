"""The command `localarc`: options in, library calls, and what they made out."""

from __future__ import annotations

import click

from localarc.cli.data import data
from localarc.cli.demo import demo
from localarc.cli.group import OneSentence
from localarc.cli.replay import replay_command
from localarc.cli.reproduce import reproduce
from localarc.cli.serve import serve
from localarc.cli.tune import tune_command
from localarc.reporting.assessment import version

_CONTEXT = {"help_option_names": ["-h", "--help"], "show_default": True}


@click.group(cls=OneSentence, context_settings=_CONTEXT)
@click.version_option(version(), prog_name="localarc")
def main() -> None:
    """Promise how often a running model fails, overall and for every kind of input."""


for _command in (replay_command, tune_command, demo, reproduce, data, serve):
    main.add_command(_command)
