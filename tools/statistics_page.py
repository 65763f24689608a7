"""Write the tables of methods of the pages of statistics from the catalogue.

python -m tools.statistics_page
"""

import re
from pathlib import Path

from biaswatch.shared.stats.catalogue import CATALOGUE

DOCS = Path(__file__).parents[1] / "docs"
PAGES = (DOCS / "statistics.md", DOCS / "statistics-monitors.md")
BLOCK = re.compile(r"(<!-- methods: (\w+) -->\n).*?(<!-- end of methods -->)", re.DOTALL)
HEADER = "| question | method | code | reference | error measured by |\n|---|---|---|---|---|\n"


def table(section: str) -> str:
    """Return the methods of a section as a Markdown table."""
    rows = [
        f"| {method.question} | {method.method} | `{method.function}` | {method.reference}"
        f" | {method.calibration} |\n"
        for method in CATALOGUE
        if method.section == section
    ]
    return HEADER + "".join(rows)


def rendered(page: str) -> str:
    """Return the page with every table of methods written anew."""
    return BLOCK.sub(lambda match: f"{match[1]}{table(match[2])}{match[3]}", page)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(rendered(page.read_text()))
