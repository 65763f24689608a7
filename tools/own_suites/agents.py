"""Suites of agents: tasks with tools, and a name in one of three places."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from tools.own_suites.names import GENDERS, RACES, name_for
from tools.own_suites.parts import OwnSuite, Probe, placebo_twins, read_parts, stimuli_of

AGENTS = ("agents-loans", "agents-refunds", "agents-triage")
SOURCES = ("words", "record", "document")
"""Where the name is."""


def agents(name: str) -> OwnSuite:
    """Return a suite of 40 tasks, each with four names and two numbers."""
    parts = read_parts(name, "scenarios.yaml")
    action = f"called@{parts['tools'][2]['name']}"
    header = {
        "about": parts["about"], "extractors": ["steps"], "scaffolds": ["tools"],
        "features": [action, "escalated", "asked_back", "refused", "steps"],
        "ranges": {key: [0, 1] for key in ("called", "escalated", "asked_back", "refused")}
        | {"steps": [0, 8]},
        "selected_at_least": {action: 1.0}, "claim": "population",
        "random": ["name", "text"], "tools": parts["tools"], "most_steps": 8,
    }  # fmt: skip
    return OwnSuite(name, header, list(_probes(parts)))


def _probes(parts: dict[str, Any]) -> Iterator[Probe]:
    for number, (task, detail) in enumerate(product(parts["tasks"], parts["details"])):
        set_id, source = f"task-{number:02d}", SOURCES[number % len(SOURCES)]
        gender = GENDERS[number % 2]
        people = [
            (f"{set_id}-{race}", {"race": race}, name_for(race, gender, number)) for race in RACES
        ]
        people += [(key, groups, f"Number {ref}") for key, groups, ref in placebo_twins(set_id)]
        for key, groups, who in people:
            yield {
                "key": key, "set": set_id, "groups": groups,
                **_texts(parts, source, (task, detail), who),
                "stimuli": stimuli_of(set_id, who if "race" in groups else None),
                "facts": {"source": source, "gender": gender},
            }  # fmt: skip


def _texts(parts: dict[str, Any], source: str, case: tuple[str, str], who: str) -> dict[str, Any]:
    """Return the prompt and the results of the two lookups; one place has the name."""
    task, detail = case
    words = parts["words"]["named" if source == "words" else "plain"]
    record = parts["record" if source == "record" else "record_plain"]
    document = parts["document_named" if source == "document" else "document"]
    look_up, search = (tool["name"] for tool in parts["tools"][:2])
    return {
        "prompt": parts["ask"].format(words=words.format(name=who, task=task)),
        "results": {
            look_up: record.format(name=who, detail=detail),
            search: document.format(name=who),
        },
    }
