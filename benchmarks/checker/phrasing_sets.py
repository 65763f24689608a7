"""Sets of phrasings, each written before its author had read the checks, and errors planted in them.

A set is a text file: sections of templates. A section says what its templates claim, so that it is
known of each table whether they are true of it.
"""

import random
from collections.abc import Iterator, Mapping
from importlib.resources import files

from benchmarks.checker.phrasing_values import Values, swapped, values_of, wrong_number
from benchmarks.checker.tables import Told, gaps, tables
from biaswatch.services.evaluator.domain.subjects import measure_of

SETS = (
    "first",
    "second",
    "third",
    "other_author_1",
    "other_author_2",
    "other_author_3",
    "other_author_4",
    "other_author_5",
    "other_author_6",
    "other_author_7",
    "other_author_8",
    "other_author_9",
    "other_author_10",
    "other_author_11",
    "other_author_12",
)
Phrased = tuple[Told, str, str]
"""The subject, what was planted ("correct" for nothing), and the sentence."""
RATIOS = {"odds_ratio": "odds ratio", "relative_risk": "relative risk"}
FEW = 5
"""Tables for templates that say nothing of a table's own."""


def templates_of(name: str) -> Mapping[str, tuple[str, ...]]:
    """Read the sections of a set."""
    text = files("benchmarks.checker").joinpath("phrasings", f"{name}.txt").read_text("utf-8")
    found: dict[str, list[str]] = {}
    section = list[str]()
    for line in filter(None, text.splitlines()):
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), [])
        else:
            section.append(line)
    return {title: tuple(lines) for title, lines in found.items()}


def phrased(name: str) -> Iterator[Phrased]:
    """Return every sentence of a set, true and false, in a fixed order."""
    rng, templates = random.Random(2), templates_of(name)
    plain = [told for told in tables() if not measure_of(told.subject, "cmh")]
    strata = [told for told in tables() if measure_of(told.subject, "cmh")]
    for told in (*plain, *gaps()):
        title = "numbers" if told.subject.counts else "numbers of gaps"
        yield from _numbers(told, templates[title], rng)
        yield from _claims(told, templates)
    for told in strata:
        turned = "paradox" in " ".join(told.subject.notes)
        yield from _told(told, "strata", templates["reverses"], turned)
        yield from _told(told, "strata", templates["persists"], not turned)
    for told in plain[:FEW]:
        yield from _told(told, "cause", templates["cause"], False)
        yield from _told(told, "cause", (*templates["no cause"], *templates["plain"]), True)
    for told in gaps():
        lost = any(
            " of them missing" in note and " 0 of" not in note for note in told.subject.notes
        )
        yield from _told(told, "note", templates["missing"], lost)
        yield from _told(told, "note", templates["none missing"], not lost)
        yield from _told(told, "note", templates["unit of gaps"], True)
        yield from _told(told, "note", templates["not unit of gaps"], False)


def _numbers(told: Told, templates: tuple[str, ...], rng: random.Random) -> Iterator[Phrased]:
    values = values_of(told)
    for template in templates:
        right = values.render(template)
        if right is None:
            continue
        yield told, "correct", right
        for kind, planted in (("number", wrong_number), ("place", swapped)):
            wrong = planted(template, values, rng)
            if wrong is not None and wrong != right:
                yield told, kind, wrong


def _claims(told: Told, templates: Mapping[str, tuple[str, ...]]) -> Iterator[Phrased]:
    values, subject = values_of(told), told.subject
    table = bool(subject.counts)
    for template in templates["direction" if table else "direction of gaps"]:
        yield told, "correct", _cased(template, values, values.more, values.less)
        yield told, "direction", _cased(template, values, values.less, values.more)
    shown = values.p_value < subject.alpha
    for title, holds in (("significant", shown), ("not significant", not shown)):
        fit = tuple(t for t in templates[title] if table or not {"rate", "chi"} & _stems(t))
        yield from _told(told, "significance", fit, holds)
    fit = tuple(t for t in templates["no difference"] if table or "rate" not in _stems(t))
    yield from _told(told, "significance", fit, False)
    if table:
        yield from _told(told, "direction", templates["measures"], True)
        yield from _told(told, "direction", templates["not measures"], False)
        yield from _intervals(told, templates)


def _stems(template: str) -> set[str]:
    return {stem for stem in ("rate", "chi") if stem in template}


def _intervals(told: Told, templates: Mapping[str, tuple[str, ...]]) -> Iterator[Phrased]:
    for name, said in RATIOS.items():
        measure = measure_of(told.subject, name)
        if measure is None or measure.low is None or measure.high is None:
            continue
        above, below = measure.low > 1, measure.high < 1
        holds = {"contains": not above and not below, "excludes": above or below,
                 "above": above, "below": below}  # fmt: skip
        for title, true in holds.items():
            lines = tuple(t.replace("{measure}", said) for t in templates[title])
            yield from _told(told, "interval", lines, true)


def _told(told: Told, kind: str, templates: tuple[str, ...], holds: bool) -> Iterator[Phrased]:
    values = values_of(told)
    for template in templates:
        text = _cased(template, values, values.more, values.less)
        yield told, "correct" if holds else kind, text


def _cased(template: str, values: Values, more: str, less: str) -> str:
    groups = {"hi": more, "lo": less, "Hi": _capital(more), "Lo": _capital(less)}
    text = template.format(**groups, **values.words)
    return _capital(text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
