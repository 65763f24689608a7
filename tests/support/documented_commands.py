"""The commands that README and docs show, in their order, and which of them the tests run."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))
LIST = ROOT / "tests" / "documented_commands.toml"
BLOCK = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELLS = {"", "sh", "bash", "console"}
PROGRAMS = {
    "biaswatch", "make", "kubectl", "helm", "docker", "docker-compose", "curl", "export", "node",
    "npm", "pip", "python", "uvicorn", "go", "skopeo", "cosign", "syft",
}  # fmt: skip
SETS = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True)
class DocumentedCommand:
    """A command as a page shows it, without the remark beside it."""

    page: str
    line: str

    @property
    def words(self) -> list[str]:
        """Its words, as a shell reads them."""
        return shlex.split(self.line, comments=True)

    @property
    def program(self) -> str:
        """What it starts; empty where it only sets a variable."""
        words = [word for word in self.words if not SETS.match(word)]
        return words[0] if words else ""


@dataclass(frozen=True)
class NotRun:
    """Commands of a page that no test runs, or that another test runs."""

    page: str
    begins: str
    reason: str

    def means(self, command: DocumentedCommand) -> bool:
        """Tell whether a command is meant."""
        return command.page == self.page and command.line.startswith(self.begins)


def documented_commands() -> list[DocumentedCommand]:
    """Return every command of every page, in its order."""
    return [command for page in PAGES for command in commands_of(page)]


def commands_of(page: str) -> list[DocumentedCommand]:
    """Return the commands of one page, in their order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    result = (_whole_lines(body) for kind, body in BLOCK.findall(text) if kind in SHELLS)
    lines = (line.removeprefix("$ ") for lines in result for line in lines)
    return [item for item in (DocumentedCommand(page, line) for line in lines) if _starts(item)]


def _starts(command: DocumentedCommand) -> bool:
    """Tell whether a line of a block is a command, and not what one prints."""
    try:
        words = command.words
    except ValueError:  # an open quote: a sentence
        return False
    return bool(words) and (command.program in PROGRAMS or bool(SETS.match(words[0])))


def _whole_lines(body: str) -> Iterator[str]:
    """Yield the commands of a block, those of several lines as one."""
    held = ""
    for line in body.splitlines():
        held = f"{held}\n{line}" if held else line
        if held.endswith("\\"):
            held = held[:-1]
            continue
        try:
            shlex.split(held, comments=True)
        except ValueError:
            if len(held) < 2000 and held.split(" ", 1)[0] in PROGRAMS:
                continue  # a quote goes on in the next line
        yield held
        held = ""


def not_run() -> list[NotRun]:
    """Return the list of what is not run by the test of this list, each with its reason."""
    return [NotRun(**item) for item in tomllib.loads(LIST.read_text())["not_run"]]
