"""Writes a report under the headings it is asked for, and grades one: both by rote."""

import json
import re
from random import Random

from services.simulator.domain.plant import Plant
from services.simulator.domain.wording import ESSAY, FLAWED

_HEADING = re.compile(r"^#{4,5} .+$", re.MULTILINE)
_GROUPS = re.compile(r"Compared are two groups, (.+?) and (.+?)\. The outcome is (.+?);")
_ESTIMATE = re.compile(
    r"^- (?P<name>[^:\n]+): (?P<value>-?[\d.e-]+), (?P<level>[\d.]+%) confidence interval"
    r" (?P<interval>\([^)]*\))(?:; (?P<neutral>-?[\d.]+) would)?",
    re.MULTILINE,
)
_TEST = re.compile(r"^- (?P<name>[^:\n]+): .*p-value (?P<p>[<=] [\d.]+)", re.MULTILINE)
_CASES = re.compile(r"^- Cases in all: (\d+)", re.MULTILINE)
_LEAST = re.compile(r"^- Fewest cases of a group for a finding: (\d+)", re.MULTILINE)
_PARADOX = re.compile(r"^- Note: Simpson", re.MULTILINE)


def written(asked: str, plant: Plant) -> str:
    """Write a report that states the statistics of the request; what is planted goes wrong."""
    headings = _HEADING.findall(asked)
    if "heading" in plant.report_faults:
        headings = [each for each in headings if "ethical" not in each]
    parts = [f"{heading}\n{_passage(heading, asked, plant)}".strip() for heading in headings]
    return json.dumps({"explanation": "\n\n".join(parts)})


def _passage(heading: str, asked: str, plant: Plant) -> str:
    found = _GROUPS.search(asked)
    one, two, outcome = found.groups() if found else ("the first group", "the second", "it")
    for word, sentences in ESSAY.items():
        if word in heading:
            said = sentences.format(one=one, two=two, outcome=outcome, **_cases(asked))
            if word == "meaning":
                said = f"{_statistics(asked)} {said}"
                flaws = [FLAWED[fault] for fault in plant.report_faults if fault in FLAWED]
                said = " ".join([said, *(flaw.format(one=one) for flaw in flaws)])
            return said
    return ""


def _cases(asked: str) -> dict[str, str]:
    cases, least = _CASES.search(asked), _LEAST.search(asked)
    return {"cases": cases[1] if cases else "no", "least": least[1] if least else "some"}


def _statistics(asked: str) -> str:
    said = [_estimate(found) for found in _ESTIMATE.finditer(asked)][:5]
    said += [f"The {f['name']} has a p-value {f['p']}." for f in _TEST.finditer(asked)][:2]
    if _PARADOX.search(asked):
        said.append("The association turns round within strata, which is Simpson's paradox.")
    return " ".join(said)


def _estimate(found: re.Match[str]) -> str:
    said = (
        f"The {found['name']} is {found['value']} with a {found['level']} confidence interval of"
        f" {found['interval']}"
    )
    neutral = found["neutral"]
    return said + (f", to be read against {neutral}." if neutral else ".")


def graded(report: str, plant: Plant, rng: Random) -> str:
    """Return a score from 0 to 1: the mean, what phrases of the report add, and noise."""
    seen = report.casefold()
    shift = sum(
        points for phrase, points in plant.grade_shifts.items() if phrase.casefold() in seen
    )
    score = min(max(plant.grade_mean + shift + rng.gauss(0, plant.grade_noise_sd), 0.0), 1.0)
    said = {"score": round(score, 2), "reasoning": "I compared the report with what it should do."}
    return json.dumps(said)
