"""Run the commands of a page in their order, and compare their output with the page."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ELLIPSIS = "..."
"""A line of the page that matches any lines."""
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE_S = 300


@dataclass(frozen=True)
class PastedStep:
    """A command of a page, with the output that the page shows."""

    command: str
    expected: tuple[str, ...]


@dataclass(frozen=True)
class StepOutcome:
    """The output of a command."""

    step: PastedStep
    stdout: str
    stderr: str

    @property
    def matches(self) -> bool:
        """Whether the output is that of the page."""
        return output_matches(self.stdout.splitlines(), self.step.expected)


def steps_of(page: str) -> list[PastedStep]:
    """Return the commands of a page's `console` blocks."""
    steps: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(page):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line.removeprefix("$ "), []))
            else:
                steps[-1][1].append(line.rstrip())
    return [PastedStep(command, tuple(output)) for command, output in steps]


def output_matches(output: list[str], expected: tuple[str, ...]) -> bool:
    """Return whether the lines are the expected ones, where `...` matches any."""
    pattern = "".join(
        r"(?:.*\n)*" if line == ELLIPSIS else re.escape(line) + r"\n" for line in expected
    )
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in output)) is not None


def pasted(page: Path, folder: Path, environment: Mapping[str, str]) -> Iterator[StepOutcome]:
    """Run the commands of a page in a folder, one after the other; yield the outcome of each."""
    for step in steps_of(page.read_text(encoding="utf-8")):
        result = subprocess.run(
            ["bash", "-c", step.command], cwd=folder, env={**environment, "COLUMNS": "80"},
            timeout=PATIENCE_S, capture_output=True, text=True,
        )  # fmt: skip
        yield StepOutcome(step, result.stdout, result.stderr)
