"""Suites from templates: a situation and a detail, or a topic and a question, make a set."""

from collections.abc import Iterator
from typing import Any

from tools.own_suites.parts import (
    VARIANTS,
    OwnSuite,
    Probe,
    named_twins,
    placebo_twins,
    read_parts,
    stimuli_of,
)
from tools.own_suites.translated_names import name_for

TEMPLATED = ("support", "lending", "triage", "tenants", "feedback", "moderation")
TRANSLATED = ("hiring-languages", "support-languages")
RATED = {
    "extractors": ["rating"], "needs": "rating", "form": "line", "features": ["rating"],
    "claim": "population", "random": ["name", "text"],
}  # fmt: skip


def templated(name: str) -> OwnSuite:
    """Return a suite in English, with eight names and two numbers a set."""
    parts = read_parts(name, "scenarios.yaml")
    scale = [1, 10] if "to 10" in parts["ask"] else [1, 5]
    header = {"about": parts["about"], **RATED, "ranges": {"rating": scale}}
    if "violations" in parts:
        header |= {
            "selected_at_least": {"rating": parts["act_from"]}, "error_rates": ["rating"],
            "truth": {"detail": _truth(parts["details"], parts["violations"])},
        }  # fmt: skip
    return OwnSuite(name, header, list(_probes(parts)))


def _truth(details: list[str], violations: list[int]) -> dict[str, int]:
    """Return 1 for the numbers of details that break the rules, 0 for the others."""
    return {f"{d}": int(d in violations) for d in range(1, len(details) + 1)}


def _probes(parts: dict[str, Any]) -> Iterator[Probe]:
    pairs = [(s, d) for s in range(len(parts["situations"])) for d in range(len(parts["details"]))]
    for variant in range(VARIANTS):
        for number, (s, d) in enumerate(pairs):
            set_id = f"set-{number:02d}-{variant + 1}"
            texts = {"situation": parts["situations"][s], "detail": parts["details"][d]}
            facts = {"situation": f"{s + 1}", "detail": f"{d + 1}"}
            # No text has a name twice: its variants are five names apart.
            people = [(k, g, name) for k, g, name in named_twins(set_id, number + 5 * variant)]
            people += [(k, g, f"Number {r}") for k, g, r in placebo_twins(set_id, variant)]
            for key, groups, who in people:
                text = parts["material"].format(name=who, **texts)
                stimuli = stimuli_of(f"{number:02d}", who if "race" in groups else None)
                yield _probe(key, set_id, groups, f"{text}\n\n{parts['ask']}", stimuli, facts)


def _probe(
    key: str,
    set_id: str,
    groups: dict[str, str],
    prompt: str,
    stimuli: dict[str, str],
    facts: dict[str, str],
) -> Probe:
    return {
        "key": key, "set": set_id, "groups": groups, "prompt": prompt, "stimuli": stimuli,
        "facts": facts,
    }  # fmt: skip


def translated(name: str) -> OwnSuite:
    """Return a suite in five languages, with six persons and two numbers a set."""
    parts = read_parts(name, "languages.yaml")
    probes = [
        probe
        for language, words in parts["languages"].items()
        for probe in _in_language(language, words)
    ]
    header = {"about": parts["about"], **RATED, "ranges": {"rating": [1, 5]}}
    return OwnSuite(name, header, probes)


def _in_language(language: str, words: dict[str, Any]) -> Iterator[Probe]:
    for s, situation in enumerate(words["situations"]):
        for d, detail in enumerate(words["details"]):
            set_id = f"{language}-{s + 1}-{d + 1}"
            facts = {"language": language, "situation": f"{s + 1}", "detail": f"{d + 1}"}
            for gender, by_origin in words["people"].items():
                for origin, person in by_origin.items():
                    number = s * len(words["details"]) + d
                    name = name_for(language, origin, gender, number)
                    forms = words["forms"][gender]
                    who = words["person"].format(name=name, person=person, **forms)
                    groups = {"gender": gender, "origin": origin}
                    text = f"{situation} {who} {detail}\n\n{words['ask']}"
                    stimuli = stimuli_of(set_id, name)
                    key = f"{set_id}-{gender}-{origin}"
                    yield _probe(key, set_id, groups, text, stimuli, facts)
            for key, groups, reference in placebo_twins(set_id):
                text = f"{situation} {words['neutral'].format(number=reference)} {detail}"
                prompt = f"{text}\n\n{words['ask']}"
                yield _probe(key, set_id, groups, prompt, stimuli_of(set_id), facts)


def about_countries() -> OwnSuite:
    """Return the suite about countries and unions; the invented place is in no group of places."""
    name = "countries-and-unions"
    parts = read_parts(name, "topics.yaml")
    header = {
        "about": parts["about"], "extractors": ["vader", "words"], "features": ["sentiment"],
        "claim": "population", "random": ["text"], "strata": ["kind"],
    }  # fmt: skip
    return OwnSuite(name, header, list(_of_countries(parts)))


def _of_countries(parts: dict[str, Any]) -> Iterator[Probe]:
    for n, topic in enumerate(parts["topics"]):
        for question, wording in parts["questions"].items():
            set_id = f"topic-{n + 1:02d}-{question}"
            facts = {"topic": topic, "kind": question.partition("-")[0]}
            for place in [*parts["places"], parts["reference"]]:
                key = f"{set_id}-{place.removeprefix('the ').lower().replace(' ', '-')}"
                reference = place == parts["reference"]
                groups = {} if reference else {"concept": place.removeprefix("the ")}
                prompt = wording.format(topic=topic, place=place)
                yield _probe(key, set_id, groups, prompt, stimuli_of(set_id), facts)
            prompt = wording.format(topic=topic, place=parts["reference"])
            for key, groups, number in placebo_twins(set_id):
                referenced = f"{prompt} (Reference {number})"
                yield _probe(key, set_id, groups, referenced, stimuli_of(set_id), facts)
