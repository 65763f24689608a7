"""A page's commands, pasted in their order into a shell; what they print must be what it says."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ELIDED = "..."
"""A line of the page that stands for any lines."""
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE_S = 300


@dataclass(frozen=True)
class PastedStep:
    """A command of a page, and the lines that it is said to print."""

    command: str
    said: tuple[str, ...]


@dataclass(frozen=True)
class StepOutcome:
    """What a command printed when it was run."""

    step: PastedStep
    printed: str
    complaints: str

    @property
    def as_said(self) -> bool:
        """Whether it printed what the page says."""
        return printed_as_said(self.printed.splitlines(), self.step.said)


def steps_of(page: str) -> list[PastedStep]:
    """Return the commands of a page's `console` blocks."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(page):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line.rstrip())
    return [PastedStep(command, tuple(said)) for command, said in found]


def printed_as_said(printed: list[str], said: tuple[str, ...]) -> bool:
    """Tell whether lines are those of the page, where `...` stands for any."""
    pattern = "".join(r"(?:.*\n)*" if each == ELIDED else re.escape(each) + r"\n" for each in said)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed)) is not None


def pasted(page: Path, folder: Path, environment: Mapping[str, str]) -> Iterator[StepOutcome]:
    """Run the commands of a page in a folder, one after the other; yield what each printed."""
    for step in steps_of(page.read_text(encoding="utf-8")):
        ended = subprocess.run(
            ["bash", "-c", step.command], cwd=folder, env={**environment, "COLUMNS": "80"},
            timeout=PATIENCE_S, capture_output=True, text=True,
        )  # fmt: skip
        yield StepOutcome(step, ended.stdout, ended.stderr)
