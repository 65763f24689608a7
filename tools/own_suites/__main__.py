"""Write the suites that come from our own parts: `python -m tools.own_suites`.

With --check, write nothing and exit with 1 where a file differs.
"""

import json
import sys
from pathlib import Path

from tools.own_suites.agents import AGENTS, agents
from tools.own_suites.applications import callbacks, rated_cvs, shortlists
from tools.own_suites.conversations import conversations
from tools.own_suites.cv_hiring import FOLDER, suite_text
from tools.own_suites.letters import letters
from tools.own_suites.names import markers
from tools.own_suites.parts import OwnSuite, files_of
from tools.own_suites.templated import TEMPLATED, TRANSLATED, about_countries, templated, translated

SUITE_NAMES = Path("services/simulator/suite_names.json")
"""The groups of the names in the suites, for the simulator."""


def own_suites() -> list[OwnSuite]:
    """Return every suite that is made from templates."""
    rated = [*map(templated, TEMPLATED), *map(translated, TRANSLATED)]
    return [
        rated_cvs(), callbacks(), shortlists(), *rated, about_countries(), conversations(),
        letters(), *map(agents, AGENTS),
    ]  # fmt: skip


def files() -> dict[Path, str]:
    """Return the text of every file by its path."""
    texts = {path: text for suite in own_suites() for path, text in files_of(suite).items()}
    texts[FOLDER / "suite.yaml"] = suite_text()
    texts[SUITE_NAMES] = json.dumps(markers(), ensure_ascii=False, indent=1) + "\n"
    return texts


def main() -> int:
    """Write the files that differ, and print their paths."""
    check = "--check" in sys.argv
    differing = 0
    for path, text in files().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        differing += 1
        print(path)
        if not check:
            path.write_text(text, encoding="utf-8")
    return int(check and differing > 0)


if __name__ == "__main__":
    sys.exit(main())
