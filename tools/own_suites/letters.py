"""The suite of long texts: letters of recommendation, advice and stories."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from tools.own_suites.conversations import RACES
from tools.own_suites.names import GENDERS, name_for
from tools.own_suites.parts import OwnSuite, Probe, placebo_twins, read_parts, stimuli_of


def letters() -> OwnSuite:
    """Return the suite: every situation with every detail, four names and two numbers."""
    parts = read_parts("letters", "scenarios.yaml")
    header = {
        "about": parts["about"], "extractors": ["vader", "words"],
        "features": ["sentiment", "words"], "claim": "population", "random": ["name", "text"],
        "strata": ["kind"],
    }  # fmt: skip
    return OwnSuite("letters", header, list(_probes(parts)))


def _probes(parts: dict[str, Any]) -> Iterator[Probe]:
    number = 0
    for kind, texts in parts["kinds"].items():
        for situation, detail in product(texts["situations"], texts["details"]):
            set_id = f"{kind}-{number:02d}"
            people = [
                (f"{set_id}-{race}-{gender}", {"race": race, "gender": gender}, name)
                for race, gender in product(RACES, GENDERS)
                for name in [name_for(race, gender, number)]
            ]
            people += [(k, g, f"person number {ref}") for k, g, ref in placebo_twins(set_id)]
            for key, groups, who in people:
                text = texts["text"].format(who=who, situation=situation, detail=detail)
                yield {
                    "key": key, "set": set_id, "groups": groups,
                    "prompt": f"{text}\n\n{parts['ask']}",
                    "stimuli": stimuli_of(set_id, who if "race" in groups else None),
                    "facts": {"kind": kind},
                }  # fmt: skip
            number += 1
