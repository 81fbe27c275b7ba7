"""What a Dockerfile says: its instructions, by stage, and the files that its context has."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"


@dataclass(frozen=True)
class Stage:
    """One stage: pairs of instruction and value, in order."""

    steps: tuple[tuple[str, str], ...]

    def all(self, instruction: str) -> list[str]:
        """The values of one instruction."""
        return [value for name, value in self.steps if name == instruction]

    def last(self, instruction: str) -> str:
        """The value that counts, of an instruction of which only the last does."""
        return self.all(instruction)[-1]

    def command(self) -> list[str]:
        """What a container runs."""
        return [*json.loads(self.last("ENTRYPOINT")), *json.loads(self.last("CMD"))]

    def healthcheck(self) -> list[str]:
        """What says whether a container is healthy."""
        command: list[str] = json.loads(self.last("HEALTHCHECK").partition("CMD ")[2])
        return command

    def environment(self) -> dict[str, str]:
        """Its variables; `$PATH` is that of the base image."""
        pairs = [pair.split("=", 1) for value in self.all("ENV") for pair in value.split()]
        base = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        return {name: value.replace("$PATH", base) for name, value in pairs}


def stages(path: Path = DOCKERFILE) -> list[Stage]:
    """The stages of a Dockerfile, the image's last."""
    text = re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    steps = [(name, value) for name, _, value in (line.partition(" ") for line in lines) if name]
    starts = [at for at, (name, _) in enumerate(steps) if name == "FROM"]
    ends = [*starts[1:], len(steps)]
    return [Stage(tuple(steps[a:b])) for a, b in zip(starts, ends, strict=True)]


def copy_context(to: Path) -> None:
    """Copy the files that the build sees: those that the ignore file lets through again."""
    ignored = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert ignored[0] == "*"
    for name in (line[1:] for line in ignored if line.startswith("!")):
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
