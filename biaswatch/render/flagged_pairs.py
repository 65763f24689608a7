"""Flagged pairs one by one: folded in a report, a line each as data; what flags are called."""

import json
from collections.abc import Iterable, Iterator
from html import escape as escape_html

from biaswatch.render.tables import escape_md
from biaswatch.shared.presentation.statement_words import STATEMENTS
from biaswatch.shared.requests.run_views import FlaggedPair

FOLD_BEGINS, FOLD_ENDS = "<details>", "</details>"
"""Lines around what is folded; texts of models cannot make them, because `<` is escaped there."""


def as_jsonl(flagged: Iterable[FlaggedPair]) -> str:
    """Return the flagged pairs, one a line."""
    return "".join(
        json.dumps(each.model_dump(mode="json"), ensure_ascii=False) + "\n" for each in flagged
    )


def folded_pair(each: FlaggedPair, model: str) -> Iterator[str]:
    """Return a pair that is folded: one line says which it is, of which model, and its flags."""
    flags = ", ".join(STATEMENTS[flag] for flag in each.flags)
    yield FOLD_BEGINS
    asked = " ".join(dict.fromkeys(side.question or "" for side in (each.a, each.b)))
    title = " ".join(f"{asked} {each.set_id}, {model}: {flags}".split())
    yield f"<summary>{escape_html(title)}</summary>"
    yield ""
    yield f"**Context:** {escape_md(each.context or '(purged)')}"
    for name, side in (("a", each.a), ("b", each.b)):
        yield ""
        yield f"**Question {name.upper()}:** {escape_md(side.question)}"
        yield ""
        yield f"**Answer:** {escape_md(side.answer or '(none)')}"
        yield ""
        yield f"**Reasoning:** {escape_md(side.reasoning or '(none)')}"
    yield ""
    for flag in each.flags:
        why = each.explanations.get(flag) or "The judge gave no explanation."
        yield f"- **{STATEMENTS[flag]}**: {escape_md(why)}"
    yield ""
    yield FOLD_ENDS
