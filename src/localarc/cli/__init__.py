"""The command `localarc`: one module per subcommand, each a thin layer over the library."""

from __future__ import annotations

import click

from localarc.cli.arena import arena_command
from localarc.cli.backup import backup
from localarc.cli.compare import compare_command
from localarc.cli.data import data
from localarc.cli.demo import demo
from localarc.cli.group import LocalarcGroup
from localarc.cli.keyed import keyed
from localarc.cli.rebalance import rebalance
from localarc.cli.repair import repair
from localarc.cli.replay import replay_command
from localarc.cli.reproduce import reproduce
from localarc.cli.serve import serve
from localarc.cli.token import token_command
from localarc.cli.transfer import export_command, import_command
from localarc.cli.tune import tune_command
from localarc.cli.warm_up import warm_up_command
from localarc.reporting.assessment import version

_CONTEXT = {"help_option_names": ["-h", "--help"], "show_default": True}


@click.group(cls=LocalarcGroup, context_settings=_CONTEXT)
@click.version_option(version(), prog_name="localarc")
def main() -> None:
    """Online risk control for deployed models, overall and per region of the input space."""


for _command in (
    *(replay_command, tune_command, compare_command, arena_command),
    *(demo, reproduce, data, warm_up_command, keyed),
    *(serve, token_command, backup, export_command, import_command, repair, rebalance),
):
    main.add_command(_command)
