"""Suites by name: those of this package, and the name likely meant."""

from pathlib import Path

from biaswatch.shared.errors import UsageError
from biaswatch.shared.lookup import similar_name

SPACE_END = "-space"
"""Suffix of the names of spaces, which share the folder of the suites."""
SHIPPED = Path(__file__).parents[1] / "suites"
DEMO_SUITE = SHIPPED / "hiring-demo.yaml"


def shipped_suites() -> dict[str, Path]:
    """Return the suites of this package by name."""
    paths = sorted(SHIPPED.iterdir())
    return {path.stem: path for path in paths if not path.stem.endswith(SPACE_END)}


def suite_path(path: Path) -> Path:
    """Return the path of a suite, which may be named as one of this package's: `cv-hiring`.

    A folder without a `suite.yaml`, as an export leaves it, does not hide a suite of that name.

    Raises
    ------
    UsageError
        Neither a file nor a shipped suite has this name; the message suggests a similar suite.
    """
    shipped = shipped_suites()
    if str(path) in shipped and not path.is_file() and not (path / "suite.yaml").exists():
        return shipped[str(path)]
    if path.exists():
        return path
    raise UsageError(f"There is no file {path}.{similar_name(path.stem, shipped)}")
