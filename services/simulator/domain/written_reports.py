"""Reports of simulated writers: slots and right claims of the request, with planted faults."""

import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from biaswatch.services.simulator.domain.planted_bias import PlantedModel

_HEADING = re.compile(r"^- (?P<title>.+?) \((?P<least>\d+) to \d+[,)]", re.MULTILINE)
_CLAIM = re.compile(
    r"^- (?P<claim>\{\"type\"[^}]+\})(?: (?P<names>\w+(?:, \w+)*))?(?:: (?P<text>.+))?$",
    re.MULTILINE,
)
_GROUP = re.compile(r"^- (groups\.\w+): name", re.MULTILINE)
_CAVEATS = re.compile(r"^Caveats to declare: (.+)$", re.MULTILINE)
MAX_FINDINGS = 14

Sentence = dict[str, Any]


def report_answer(prompt: str, model: PlantedModel, rng: Random) -> str:
    """Return a report that makes the right claims of the request, with planted faults."""
    planted = {fault for fault in model.report_faults if rng.random() < model.report_fault_share}
    claims = list(_claims(prompt))
    sections = []
    for match in _HEADING.finditer(prompt):
        title = match["title"]
        if "heading" in planted and "ethical" in title:
            continue
        sentences = list(_sentences(title, prompt, claims))
        if "meaning" in title:
            sentences += [_FAULTS[fault](claims) for fault in planted if fault in _FAULTS]
        if "caveat" in planted:
            sentences = [s for s in sentences if "causes" not in str(s["claims"])]
            sentences += [_plain("The reading calls for caution.")] * (not sentences)
        sections.append({"heading": title, "sentences": sentences})
    return json.dumps({"sections": sections})


def _claims(prompt: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the claims of the request and their sentences, a name in the place of each star."""
    for match in _CLAIM.finditer(prompt):
        for name in (match["names"] or "").split(", "):
            words = name.replace("_", " ")
            text = match["text"] or f"The term {words} has a meaning of its own."
            text = text.replace("{*.", f"{{{name}.").replace(".*.", f".{name}.").replace("*", words)
            yield json.loads(match["claim"].replace('"*"', f'"{name}"')), text


def _sentences(
    title: str, prompt: str, claims: list[tuple[dict[str, str], str]]
) -> Iterator[Sentence]:
    if "Summary" in title:
        one, two = _GROUP.findall(prompt)[:2]
        yield _plain(f"The report compares {{{one}.name}} and {{{two}.name}}.")
        yield _plain("The outcome is {outcome}.")
    elif "methods" in title:
        yield from _of(claims, "definition", least=0, most=3)
    elif "meaning" in title:
        kinds = ("direction", "interval", "significance", "agreement", "strata", "conclusion")
        yield from _of(claims, *kinds, most=MAX_FINDINGS)
    elif "ethical" in title:
        yield from (_claimed(c, t) for c, t in claims if c.get("about") in {"causes", "nature"})
    elif "unable" in title:
        wanted = match[1].split(", ") if (match := _CAVEATS.search(prompt)) else []
        wanted += ["limits", "experts"]
        yield from (_claimed(c, t) for c, t in claims if c.get("about") in wanted)
    else:
        yield from _of(claims, "definition", most=9)


def _of(
    claims: list[tuple[dict[str, str], str]], *kinds: str, least: int = 0, most: int
) -> Iterator[Sentence]:
    chosen = [(claim, text) for claim, text in claims if claim["type"] in kinds]
    yield from (_claimed(claim, text) for claim, text in chosen[least:most])


def _claimed(claim: dict[str, str], text: str) -> Sentence:
    return {"text": text, "claims": [claim]}


def _plain(text: str) -> Sentence:
    return {"text": text, "claims": []}


def _wrong_claim(claims: list[tuple[dict[str, str], str]]) -> Sentence:
    """Return an interval claim that is turned wrong."""
    claim = next((c for c, _ in claims if c["type"] == "interval"), None)
    if claim is None:
        return _claimed({"type": "size", "size": "immense"}, "The difference is large.")
    turned = "no" if claim["contains_null"] == "yes" else "yes"
    text = "The interval settles the matter."
    return _claimed({**claim, "contains_null": turned}, text)


_FAULTS: dict[str, Callable[[list[tuple[dict[str, str], str]]], Sentence]] = {
    "number": lambda _: _plain("In an earlier sample the estimate was 7.77."),
    "slot": lambda _: _plain("The estimate is {odds_ratio.middle}."),
    "claim": _wrong_claim,
    "undeclared": lambda _: _plain("The difference is significant."),
    "cause": lambda _: _plain("The outcome is due to prejudice."),
    "attribution": lambda _: _plain("The members of a group are by nature unsuited to it."),
}
