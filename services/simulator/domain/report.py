"""Reports under the headings that are requested, and grades of reports: by fixed rules."""

import json
import re
from random import Random

from services.simulator.domain.planted_bias import PlantedModel

# What is written under a heading that holds the word; the numbers come from the request.
SENTENCES = {
    "Summary": (
        "The report compares {one} and {two} with respect to {outcome}. "
        "How far a disparity is shown follows from the statistics below."
    ),
    "methods": (
        "The estimates say how far the two groups lie apart. "
        "An interval shows which values fit the data about as well. "
        "A test asks how often chance alone would part the groups as far."
    ),
    "meaning": (
        "An interval that leaves out the value of no difference points to a disparity. "
        "Odds compare having an outcome with not having it, whereas a risk is a plain share. "
        "Taken together the statistics describe how {one} and {two} fare in {outcome}."
    ),
    "ethical": (
        "The statistics describe outcomes and cannot show what caused them. "
        "A difference must not be read as the nature, ability or conduct of a group. "
        "The process that led to the outcomes is where to look."
    ),
    "unable": (
        "The data hold {cases} cases, and a group needs at least {least} for a finding. "
        "More cases would make every interval narrower. "
        "What was never recorded may differ between the groups and change the reading. "
        "The results call for caution and for somebody who knows the field."
    ),
    "Terms": (
        "An odds ratio compares the odds of an outcome in two groups. "
        "A relative risk compares the shares of two groups that have the outcome. "
        "A test asks whether chance alone explains a difference. "
        "A confidence interval holds the values that fit the data. "
        "A p-value is how often chance gives at least such a difference."
    ),
}
FAULTY_SENTENCES = {
    "number": "In an earlier sample the estimate was 7.77.",
    "attribution": "The members of {one} are by nature less suited to it.",
}

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


def report_answer(prompt: str, model: PlantedModel) -> str:
    """Write a report that states the statistics of the request; what is planted goes wrong."""
    headings = _HEADING.findall(prompt)
    if "heading" in model.report_faults:
        headings = [each for each in headings if "ethical" not in each]
    parts = [f"{heading}\n{_passage(heading, prompt, model)}".strip() for heading in headings]
    return json.dumps({"explanation": "\n\n".join(parts)})


def _passage(heading: str, prompt: str, model: PlantedModel) -> str:
    found = _GROUPS.search(prompt)
    one, two, outcome = found.groups() if found else ("the first group", "the second", "it")
    for word, sentences in SENTENCES.items():
        if word in heading:
            said = sentences.format(one=one, two=two, outcome=outcome, **_cases(prompt))
            if word == "meaning":
                said = f"{_statistics(prompt)} {said}"
                flaws = [
                    FAULTY_SENTENCES[fault]
                    for fault in model.report_faults
                    if fault in FAULTY_SENTENCES
                ]
                said = " ".join([said, *(flaw.format(one=one) for flaw in flaws)])
            return said
    return ""


def _cases(prompt: str) -> dict[str, str]:
    cases, least = _CASES.search(prompt), _LEAST.search(prompt)
    return {"cases": cases[1] if cases else "no", "least": least[1] if least else "some"}


def _statistics(prompt: str) -> str:
    said = [_estimate(found) for found in _ESTIMATE.finditer(prompt)][:5]
    said += [f"The {f['name']} has a p-value {f['p']}." for f in _TEST.finditer(prompt)][:2]
    if _PARADOX.search(prompt):
        said.append("The association turns round within strata, which is Simpson's paradox.")
    return " ".join(said)


def _estimate(found: re.Match[str]) -> str:
    said = (
        f"The {found['name']} is {found['value']} with a {found['level']} confidence interval of"
        f" {found['interval']}"
    )
    neutral = found["neutral"]
    return said + (f", to be read against {neutral}." if neutral else ".")


def grade_answer(report: str, model: PlantedModel, rng: Random) -> str:
    """Return a score from 0 to 1: the mean, what phrases of the report add, and noise."""
    seen = report.casefold()
    shift = sum(
        points for phrase, points in model.grade_shifts.items() if phrase.casefold() in seen
    )
    score = min(max(model.grade_mean + shift + rng.gauss(0, model.grade_noise_sd), 0.0), 1.0)
    said = {"score": round(score, 2), "reasoning": "I compared the report with what it should do."}
    return json.dumps(said)
