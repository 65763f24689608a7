"""The verbs of `suites` that need no judge: similarity of twins' answers, words for groups."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from biaswatch.cli.options import Json
from biaswatch.cli.twins import Answers, Group, OnlyTarget
from biaswatch.exporting.twin_answers import rows_of_file, twin_answers
from biaswatch.readers.suites import load_suite
from biaswatch.render.terminal import print_table, printable, terminal_table
from biaswatch.shared.conventions.group_words import GROUP_WORDS, named_in
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text
from biaswatch.shared.formatting import number

MAX_WORDS = 12
"""Words that one line lists."""


def show_similarity(
    answers: Answers,
    group: Group,
    extract: Annotated[
        list[str],
        typer.Option(help="bleu, rouge_l, recommendations, embedding_distance, vader_shares, ..."),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", help="Write the pairs to a .csv, .parquet or .xlsx file.")
    ] = None,
    target: OnlyTarget = None,
    as_json: Json = False,
) -> None:
    """Show how similar the answers of twins are, and those within a group, without a judge."""
    from biaswatch.exporting.twin_similarity import measured_pairs, summaries, twin_pairs
    from biaswatch.measuring import TextMeasurer
    from biaswatch.render.written_tables import check_table_file, write_frame

    check_table_file(output)
    twins = twin_answers(rows_of_file(answers), group, target)
    pairs = measured_pairs(list(twin_pairs(twins.sets)), TextMeasurer.named(extract))
    if not pairs:
        raise UsageError(f"No set has two answers of groups of {group!r} to compare.")
    if output:
        write_frame([pair.row for pair in pairs], output)
        features = " ".join(f"--feature {feature}" for feature in pairs[0].values)
        typer.echo(
            f"Wrote {output}: {len(pairs)} pairs. Next: biaswatch diagnose {output} --group pair"
            f" --set set --unit unit {features}",
            err=True,
        )
    rows = summaries(pairs)
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    head = ("pair", "feature", "n", "mean", "strong parity", "weak parity")
    cells = (
        [row.pair, row.feature, *map(_cell, (row.n, row.mean, row.strong_parity, row.weak_parity))]
        for row in rows
    )
    print_table(Console(), terminal_table(head, cells))


def _cell(value: float | None) -> str:
    return "-" if value is None else number(value)


def show_words(
    source: Annotated[
        Path, typer.Argument(help="A suite, or a text file with a prompt on each line.")
    ],
    attribute: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(GROUP_WORDS)}, or a file of words; default all four."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show which prompts have words that name a group; names and other hints are not recognized."""
    prompts = _prompts(source)
    if not prompts:
        raise UsageError(f"{source} has no prompts.")
    words = dict(map(_words, attribute or GROUP_WORDS))
    hits_by_attribute = {
        name: {key: sorted(hits) for key, text in prompts.items() if (hits := named_in(text, own))}
        for name, own in words.items()
    }
    if as_json:
        typer.echo(json.dumps({"prompts": len(prompts), "words": hits_by_attribute}, indent=2))
        return
    typer.echo("Words are searched for; names and other hints are not recognized.")
    for name, by_key in hits_by_attribute.items():
        counts = Counter(word for hits in by_key.values() for word in hits)
        listed = ", ".join(f"{word} ({times})" for word, times in counts.most_common(MAX_WORDS))
        typer.echo(
            printable(f"{name}: {len(by_key)} of {len(prompts)} prompts have words for a group")
            + (printable(f": {listed}.") if listed else ".")
        )


def _prompts(source: Path) -> dict[str, str]:
    """Return the texts of a suite by probe, or the lines of a file by number."""
    if source.suffix.lower() == ".txt":
        lines = read_text(source, "file of prompts").splitlines()
        return {str(number): line for number, line in enumerate(lines, start=1) if line.strip()}
    return {
        probe.key: "\n".join(
            [
                probe.prompt or "",
                *(message.content for message in probe.messages),
                *probe.variables.values(),
            ]
        )
        for probe in load_suite(source).probes
    }


def _words(written: str) -> tuple[str, tuple[str, ...]]:
    """Return the name and the words of an attribute, which may be in a file, one on each line."""
    if written in GROUP_WORDS:
        return written, GROUP_WORDS[written]
    if not Path(written).is_file():
        known = ", ".join(GROUP_WORDS)
        raise UsageError(f"{written!r} is neither a known attribute ({known}) nor a file.")
    words = tuple(read_text(Path(written), "file of words").lower().splitlines())
    if not any(word.strip() for word in words):
        raise UsageError(f"{written} has no words, one on each line.")
    return Path(written).stem, words
