"""Write every suite of our own that comes from templates: `python -m tools.own_suites`."""

import json
from pathlib import Path

from tools.own_suites.applications import callbacks, rated_cvs
from tools.own_suites.names import markers
from tools.own_suites.parts import OwnSuite, write
from tools.own_suites.templated import TEMPLATED, TRANSLATED, about_countries, templated, translated

SUITE_NAMES = Path("services/simulator/suite_names.json")
"""The names of the suites, which the simulator knows by itself."""


def own_suites() -> list[OwnSuite]:
    """Return all of them."""
    rated = [*map(templated, TEMPLATED), *map(translated, TRANSLATED)]
    return [rated_cvs(), callbacks(), *rated, about_countries()]


def main() -> None:
    """Write the suites, and the names' groups for the simulator."""
    for suite in own_suites():
        write(suite)
        print(f"suites/{suite.name}: {len(suite.probes)} probes")
    text = json.dumps(markers(), ensure_ascii=False, indent=1) + "\n"
    SUITE_NAMES.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
