"""Commands of other distributions, which join by the entry points `localarc.commands`."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import click

from localarc.cli.group import BadInput, LocalarcGroup

COMMANDS = {
    "localarc-lab": ("arena", "compare", "data", "reproduce"),
    "localarc-service": ("backup", "export", "import", "rebalance", "repair", "serve", "token"),
}
"""What each distribution adds, for the error where it is not installed."""

_REQUIRED = {"localarc-service": ("localarc-client",)}  # by a distribution, besides the library


class ExtensibleGroup(LocalarcGroup):
    """The library's commands, and those of the distributions that are installed beside it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands that are here, in alphabetical order."""
        return sorted({*super().list_commands(ctx), *_added()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name; nothing of the others is imported."""
        if cmd_name in self.commands:
            return super().get_command(ctx, cmd_name)
        if added := _added().get(cmd_name):
            command: click.Command = added.load()
            return command
        for distribution, names in COMMANDS.items():
            if cmd_name in names:
                raise BadInput(f"{cmd_name} is {not_installed(distribution)}")
        return None


def not_installed(distribution: str) -> str:
    """Where something is, and how to install it: from an index, or in a clone."""
    needed = (*_REQUIRED.get(distribution, ()), distribution)
    folders = " ".join(f"./packages/{name}" for name in needed)
    return (
        f"in {distribution}, which is not installed: pip install {distribution}, "
        f"or in a clone of localarc: pip install {folders}"
    )


def _added() -> dict[str, EntryPoint]:
    return {found.name: found for found in entry_points(group="localarc.commands")}
