"""Scores, pairs and judges in a report, and the flagged pairs to read one by one."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from biaswatch.render import studies as findings
from biaswatch.render.tables import escape_md, markdown_table

Flagged = Mapping[str, Any]


def as_markdown(studies: Mapping[str, Any], flagged: Sequence[Flagged]) -> str:
    """Return the sections of a study; nothing where there is none."""
    lines = [*_scores(studies), *_pairs(studies), *_judges(studies), *_gaps(studies)]
    if flagged:
        lines += ["", "## Flagged pairs"]
        for each in flagged:
            lines += ["", *_pair(each)]
    return "\n".join(lines) + "\n" if lines else ""


def as_jsonl(flagged: Iterable[Flagged]) -> str:
    """Return the flagged pairs, one a line."""
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in flagged)


def _scores(studies: Mapping[str, Any]) -> Iterator[str]:
    if studies.get("scores"):
        yield from (
            "",
            "## Scores",
            "",
            "In percent, with 95 % bootstrap intervals by context.",
            "",
        )
        yield from markdown_table(findings.SCORE_HEAD, findings.score_rows(studies))


def _pairs(studies: Mapping[str, Any]) -> Iterator[str]:
    if studies.get("pairs"):
        yield from ("", "## Pairs", "", findings.MEANING, "")
        yield from markdown_table(findings.PAIR_HEAD, findings.pair_rows(studies))
        for each in studies["pairs"]:
            for why, times in each["unasked"].items():
                yield ""
                who = f"{each['target']}, {each['category']}, {each['condition']}"
                yield escape_md(f"{who}: {times} of {each['pairs']} pairs were not judged: {why}.")


def _judges(studies: Mapping[str, Any]) -> Iterator[str]:
    if studies.get("judges"):
        yield from ("", "## Judges", "", "On questions of our own, whose replies are known.", "")
        yield from markdown_table(findings.JUDGE_HEAD, findings.judge_rows(studies))


def _gaps(studies: Mapping[str, Any]) -> Iterator[str]:
    if sentences := findings.gap_sentences(studies):
        yield from ("", "## Models compared", "")
        yield from (f"- {escape_md(sentence)}" for sentence in sentences)


def _pair(each: Flagged) -> Iterator[str]:
    yield f"### {escape_md(each['set_id'])}: {escape_md(each['target'])}"
    yield ""
    yield f"**Context:** {escape_md(each['context'] or '(purged)')}"
    for name in ("a", "b"):
        side = each[name]
        yield ""
        yield f"**Question {name.upper()}:** {escape_md(side['question'])}"
        yield ""
        yield f"**Answer:** {escape_md(side['answer'] or '(none)')}"
        yield ""
        yield f"**Reasoning:** {escape_md(side['reasoning'] or '(none)')}"
    yield ""
    for flag in each["flags"]:
        why = each["explanations"].get(flag) or "The judge gave no explanation."
        yield f"- **{findings.STATEMENTS[flag]}**: {escape_md(why)}"
