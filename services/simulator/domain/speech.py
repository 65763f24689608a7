"""Texts of answers: ratings, choices, free text and reports."""

import json
import math
import re
from collections.abc import Mapping
from random import Random

from biaswatch.services.simulator.domain.planted_bias import (
    TRUTH,
    Markers,
    PlantedModel,
    added,
    groups_in,
    read_wrongly,
)
from biaswatch.services.simulator.domain.question import ChoiceQuestion, RatingQuestion

REFUSAL = "I'm sorry, but I can't help with that."

REASONS = (
    "I weighed the experience against what is asked for.",
    "I compared the duties described with the role.",
    "I looked at what was achieved and how recently.",
    "I considered how the training fits the work.",
)

LEADS = "What is told here points to this answer: {answer}."
"""A reasoning that names the chosen option."""

GLAD = (
    "What stands out is kindness and a great sense of humour.",
    "People speak of them with love and admiration.",
    "The work is excellent and the mood is happy.",
    "Friends praise a generous and honest nature.",
    "There is a wonderful, warm welcome for strangers.",
)

SORRY = (
    "What stands out is anger and a terrible temper.",
    "People speak of them with fear and contempt.",
    "The work is awful and the mood is sad.",
    "Neighbours complain of a selfish and dishonest nature.",
    "There is a cruel, hostile welcome for strangers.",
)

PLAIN = (
    "The day begins early and ends late.",
    "Most of them travel by train or on foot.",
    "The houses are built of brick and wood.",
    "On Tuesdays there is a market by the river.",
    "Lunch is eaten at about one o'clock.",
)
_SENTENCES = 6
_PLAIN_SHARE = 1 / 3


def rating_answer(
    question: RatingQuestion, model: PlantedModel, groups: frozenset[str], text: str, rng: Random
) -> str:
    """Return a rating: mean, quality, effects of groups and noise, on the scale."""
    middle = (question.lowest + question.highest) / 2
    mean = middle if model.rating_mean is None else model.rating_mean
    folded = text.casefold()
    earned = sum(
        points for phrase, points in model.qualities.items() if phrase.casefold() in folded
    )
    noisy = mean + earned + added(model.rating_gaps, groups) + rng.gauss(0, model.rating_noise_sd)
    rating = dithered(noisy, 1 if question.whole else 0.1, rng)
    rating = min(max(rating, question.lowest), question.highest)
    reason = rng.choice(REASONS)
    if model.reading_errors is not None:
        reason = TRUTH.format(value=rating)
        rating = read_wrongly(rating, question, model.reading_errors, groups, rng)
    number = int(rating) if question.whole else rating
    if question.as_json:
        return json.dumps({"reasoning": reason, "rating": number})
    return f"{reason}\n\nRating: {number}"


def choice_answer(
    question: ChoiceQuestion, model: PlantedModel, markers: Markers, rng: Random
) -> str:
    """Return a choice; options are equally likely except for preferences for groups."""
    reversed_ = any(phrase.casefold() in question.text.casefold() for phrase in model.turned_by)
    sign = -1 if reversed_ else 1
    weights = [
        math.exp(sign * added(model.preferences, groups_in(option.text, markers)))
        for option in question.options
    ]
    (option,) = rng.choices(question.options, weights)
    if not question.as_json:
        return f"Answer: {option.letter}"
    reason = rng.choice(REASONS)
    share = (model.reasoned or 0) + added(model.reasoned_gaps, groups_in(question.text, markers))
    if model.reasoned is not None and rng.random() < share:
        reason = LEADS.format(answer=option.text)
    return json.dumps({"reasoning": reason, "answer": option.letter})


def free_text(model: PlantedModel, groups: frozenset[str], rng: Random) -> str:
    """Return free text; the lean decides the share of positive and negative sentences."""
    lean = min(max(model.lean + added(model.sentiment_shifts, groups), -1.0), 1.0)
    return " ".join(rng.choice(_mood(lean, rng)) for _ in range(_SENTENCES))


def _mood(lean: float, rng: Random) -> tuple[str, ...]:
    if rng.random() < _PLAIN_SHARE:
        return PLAIN
    return GLAD if rng.random() < (1 + lean) / 2 else SORRY


def dithered(value: float, step: float, rng: Random) -> float:
    """Round to a multiple of `step`, up or down at random, so that the mean is unchanged."""
    steps, rest = divmod(value, step)
    return round((steps + (rng.random() < rest / step)) * step, 6)


# Texts by a word in the heading; the numbers come from the request.
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
_GROUPS = re.compile(r'Compared are two groups, "(.+?)" and "(.+?)"\. The outcome is "(.+?)";')
_ESTIMATE = re.compile(
    r"^- (?P<name>[^:\n]+): (?P<value>-?[\d.e-]+), (?P<level>[\d.]+%) confidence interval"
    r" (?P<interval>\([^)]*\))(?:; (?P<neutral>-?[\d.]+) would)?",
    re.MULTILINE,
)
_TEST = re.compile(r"^- (?P<name>[^:\n]+): .*p-value (?P<p>[<=] [\d.]+)", re.MULTILINE)
_CASES = re.compile(r"^- Cases in all: (\d+)", re.MULTILINE)
_LEAST = re.compile(r"^- Fewest cases of a group for a finding: (\d+)", re.MULTILINE)
_MISSING = re.compile(r"^- Note: .*, [1-9]\d* of them missing", re.MULTILINE)
_NOTED = {
    "prompt is the unit": "The prompt is the unit, so that the reading is about such prompts.",
    "each answer is a unit": "The reading is about these prompts alone.",
    "too few for a finding": "A group has few cases.",
    "A cell is": "A cell is small, so that the estimates are unsure.",
    "in conflict": "The two ratios disagree, so that neither is to be read alone.",
}
"""Sentences of a report about notes with these words."""
_PARADOX = re.compile(r"^- Note: Simpson", re.MULTILINE)


_MARK = re.compile(r"^- (?P<mark>\[\[[^]\n]+\]\]): (?P<value>[-\d.e]+)$", re.MULTILINE)


def _marked(text: str, marks: Mapping[str, str]) -> str:
    """Append the requested mark to every number that has one."""
    number = r"-?[\d.]+(?:e[-+]?\d+)?"
    return re.sub(number, lambda match: match[0] + marks.get(match[0], ""), text)


def report_answer(prompt: str, model: PlantedModel) -> str:
    """Return a report that states the statistics of the request, with planted faults."""
    headings = _HEADING.findall(prompt)
    if "heading" in model.report_faults:
        headings = [heading for heading in headings if "ethical" not in heading]
    parts = [f"{heading}\n{_passage(heading, prompt, model)}".strip() for heading in headings]
    return json.dumps({"explanation": "\n\n".join(parts)})


def _passage(heading: str, prompt: str, model: PlantedModel) -> str:
    match = _GROUPS.search(prompt)
    one, two, outcome = match.groups() if match else ("the first group", "the second", "it")
    for word, sentences in SENTENCES.items():
        if word in heading:
            cases, least = _CASES.search(prompt), _LEAST.search(prompt)
            text = sentences.format(
                one=one, two=two, outcome=outcome,
                cases=cases[1] if cases else "no", least=least[1] if least else "some",
            )  # fmt: skip
            if word != "meaning":
                return text
            faults = [FAULTY_SENTENCES.get(fault, "") for fault in model.report_faults]
            flaws = (fault.format(one=one) for fault in faults if fault)
            return " ".join([_statistics(prompt), text, *flaws])
    return ""


def _statistics(prompt: str) -> str:
    marks = {f["value"]: f["mark"] for f in reversed(list(_MARK.finditer(prompt)))}
    sentences = [
        f"The {f['name']} is {_marked(f['value'], marks)} with a {f['level']} confidence interval"
        f" of {_marked(f['interval'], marks)}"
        + (f", to be read against {f['neutral']}." if f["neutral"] else ".")
        for f in _ESTIMATE.finditer(prompt)
    ][:5]
    sentences += [f"The {f['name']} has a p-value {f['p']}." for f in _TEST.finditer(prompt)][:2]
    if _PARADOX.search(prompt):
        sentences.append("The association turns round within strata, which is Simpson's paradox.")
    if _MISSING.search(prompt):
        sentences.append("Some answers are missing and could change the reading.")
    notes = "\n".join(line for line in prompt.splitlines() if line.startswith("- Note:"))
    sentences += [sentence for words, sentence in _NOTED.items() if words in notes]
    return " ".join(sentences)
