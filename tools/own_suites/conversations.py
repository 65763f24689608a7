"""Conversations of five turns, whose twins differ in the second one alone."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from tools.own_suites.names import GENDERS, name_for
from tools.own_suites.parts import OwnSuite, Probe, placebo_twins, read_parts, stimuli_of
from tools.own_suites.templated import RATED

RACES = ("white", "black")


def conversations() -> OwnSuite:
    """Return the suite: every situation with every detail, four names and two numbers."""
    parts = read_parts("conversations", "scenarios.yaml")
    header = {
        "about": parts["about"], **RATED, "ranges": {"rating": [1, 5]},
        "scaffolds": ["conversation"],
    }  # fmt: skip
    return OwnSuite("conversations", header, list(_probes(parts)))


def _probes(parts: dict[str, Any]) -> Iterator[Probe]:
    pairs = product(parts["situations"], parts["details"])
    for number, (situation, detail) in enumerate(pairs):
        set_id = f"{number:02d}"
        opening = parts["opening"].format(situation=situation, detail=detail, ask=parts["ask"])
        for race, gender in product(RACES, GENDERS):
            name = name_for(race, gender, number)
            groups, stimuli = {"race": race, "gender": gender}, stimuli_of(set_id, name)
            key = f"{set_id}-{race}-{gender}"
            yield _probe(key, set_id, groups, stimuli, _messages(parts, opening, name))
        for key, groups, reference in placebo_twins(set_id):
            messages = _messages(parts, opening, f"number {reference}")
            yield _probe(key, set_id, groups, stimuli_of(set_id), messages)


def _messages(parts: dict[str, Any], opening: str, who: str) -> list[dict[str, Any]]:
    texts = [opening, parts["naming"].format(who=who, ask=parts["ask"])]
    texts += [parts[name].format(ask=parts["ask"]) for name in ("doubt", "refused", "closing")]
    messages: list[dict[str, Any]] = [{"role": "user", "content": text} for text in texts]
    messages[3] |= {
        "when": {"refused": True}, "otherwise": parts["answered"].format(ask=parts["ask"]),
    }  # fmt: skip
    return messages


def _probe(
    key: str,
    set_id: str,
    groups: dict[str, str],
    stimuli: dict[str, str],
    messages: list[dict[str, Any]],
) -> Probe:
    return {
        "key": key, "set": set_id, "groups": groups, "messages": messages, "stimuli": stimuli,
    }  # fmt: skip
