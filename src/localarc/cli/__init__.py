"""The command `localarc`: one module per subcommand, each a thin layer over the library."""

from __future__ import annotations

import click

from localarc.cli.demo import demo
from localarc.cli.elsewhere import ExtensibleGroup
from localarc.cli.keyed import keyed
from localarc.cli.replay import replay_command
from localarc.cli.tune import tune_command
from localarc.cli.warm_up import warm_up_command
from localarc.reporting.assessment import version

_CONTEXT = {"help_option_names": ["-h", "--help"], "show_default": True}


@click.group(cls=ExtensibleGroup, context_settings=_CONTEXT)
@click.version_option(version(), prog_name="localarc")
def main() -> None:
    """Online risk control for deployed models, overall and per region of the input space."""


for _command in (replay_command, tune_command, demo, warm_up_command, keyed):
    main.add_command(_command)
