"""The verb `suites check`: what is wrong with a suite before any model is asked."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from biaswatch.cli.options import Json, SuiteFile
from biaswatch.readers.suites import load_suite
from biaswatch.render.terminal import escape
from biaswatch.shared.files import read_text, yaml_mapping

MAX_DETAILS = 10
"""Details of one check that a terminal shows."""
FOUND = 1


def check_suite(
    suite: SuiteFile,
    word: Annotated[
        list[str] | None, typer.Option(help="A word that names a group; may be repeated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check twins, names, expected answers, size and random factors; exit 1 for a fault."""
    from biaswatch.building.suite_checks import checks_of

    checks = checks_of(load_suite(suite), [*(word or ()), *_replaced(suite)])
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for check in checks:
            state = {True: "ok", False: "fault", None: "none"}[check.passed]
            console.print(f"{state:5}  {escape(check.name)}: {escape(check.sentence)}")
            for detail in check.details[:MAX_DETAILS]:
                console.print(f"       {escape(detail)}")
            if (more := len(check.details) - MAX_DETAILS) > 0:
                console.print(f"       and {more} more; --json lists all")
    if any(check.passed is False for check in checks):
        raise typer.Exit(FOUND)


def _replaced(path: Path) -> list[str]:
    """Return the words that `build` replaced to make twins, as the suite's file lists them."""
    file = path / "suite.yaml" if path.is_dir() else path
    origin: Any = yaml_mapping(read_text(file, "suite"), file, "a suite is a mapping").get("made")
    replaced = origin.get("replaced") if isinstance(origin, Mapping) else None
    pairs = replaced.values() if isinstance(replaced, Mapping) else ()
    return [
        str(text) for terms in pairs if isinstance(terms, Mapping) for term in terms.items()
        for text in term
    ]  # fmt: skip
