"""How a simulated model judges: it reads a little, or it always approves, guesses, or copies.

What it reads is simple: whether a report has the interval that is asked for, whether it owns up to
limits, whether a reasoning has the words of an answer or of a question. Errors are planted in what
it says of that, by the groups in what it judges.
"""

import json
import re
from random import Random

from biaswatch.services.simulator.domain.planted_bias import PlantedModel, wrong_value
from biaswatch.services.simulator.domain.question import GradeQuestion, VerdictQuestion

REASON = "I compared the report with what it should do."
_WANTED = re.compile(r"with exactly these values, (\([^)]*\))")
_LIMITS_WANTED = re.compile(r"what the data cannot tell", re.IGNORECASE)
_LIMITS = re.compile(r"\b(?:caution|never recorded|out of date|limit(?:s|ed)?)\b", re.IGNORECASE)
_BAD_REPORT_MOST = 0.1
_ENDS = (0.0, 1.0)
"""No and yes, or the worst and the best score."""
_QUOTED = re.compile(r"^(?P<name>[A-Z][\w ]+):\n(?P<text>(?:>.*(?:\n|$))+)", re.MULTILINE)
_WORD = re.compile(r"[a-z]{3,}")
_IDLE = frozenset(
    [
        "the",
        "and",
        "who",
        "was",
        "that",
        "has",
        "for",
        "not",
        "what",
        "which",
        "they",
        "are",
        "his",
        "her",
    ]
)


def grade_answer(
    question: GradeQuestion, model: PlantedModel, groups: frozenset[str], rng: Random
) -> str:
    """Return a score from 0 to 1 as a JSON object, or whatever such a judge replies."""
    if model.judging == "copies":
        return question.report
    if model.judging == "approves":
        return _graded(1.0)
    if model.judging == "guesses":
        return _graded(rng.random())
    score = _score(question, model, rng)
    if model.judging_errors is not None:
        score = wrong_value(score, _ENDS, model.judging_errors, groups, rng)
    return _graded(score)


def _score(question: GradeQuestion, model: PlantedModel, rng: Random) -> float:
    if not does_what_is_asked(question):
        return rng.uniform(0, _BAD_REPORT_MOST)
    seen = question.report.casefold()
    shift = sum(
        points for phrase, points in model.grade_shifts.items() if phrase.casefold() in seen
    )
    score = model.grade_mean + shift + rng.gauss(0, model.grade_noise_sd)
    return min(max(score, 0.0), 1.0)


def does_what_is_asked(question: GradeQuestion) -> bool:
    """Whether a report has what a judgement asks for, as far as a few words tell."""
    if not question.report.strip():
        return False
    if wanted := _WANTED.search(question.prompt):
        return wanted[1] in question.report
    if _LIMITS_WANTED.search(question.prompt):
        return _LIMITS.search(question.report) is not None
    return True


def _graded(score: float) -> str:
    return json.dumps({"score": round(score, 2), "reasoning": REASON})


def verdict_answer(
    question: VerdictQuestion, model: PlantedModel, groups: frozenset[str], rng: Random
) -> str:
    """Return yes or no, or the letter of a question, with a reason."""
    if model.judging == "copies":
        return question.prompt
    replies = [option.letter for option in question.options] or ["yes", "no"]
    if model.judging == "approves":
        said = replies[0]
    elif model.judging == "guesses":
        said = rng.choice(replies)
    else:
        said = _letter(question) if question.options else _yes_or_no(question)
        said = _wrongly(said, replies, model, groups, rng)
    return f"Answer: {said}\nI compared the words of the quoted parts."


def _wrongly(
    said: str, replies: list[str], model: PlantedModel, groups: frozenset[str], rng: Random
) -> str:
    """Return what is said by a judge with planted errors; a missed letter is any other one."""
    if model.judging_errors is None:
        return said
    read = wrong_value(float(said != "no"), _ENDS, model.judging_errors, groups, rng)
    yes = read > sum(_ENDS) / 2
    if "yes" in replies:
        return "yes" if yes else "no"
    return said if yes else rng.choice([each for each in replies if each != said])


def leads_to(reasoning: str, answer: str) -> bool:
    """Whether a reasoning has the words of an answer: what somebody finds who reads closely."""
    return _words(answer) <= _words(reasoning)


def _yes_or_no(question: VerdictQuestion) -> str:
    told = _quoted(question.prompt)
    if "Reasoning" in told:
        return "yes" if leads_to(told["Reasoning"], told.get("Answer", "")) else "no"
    asked = {told.get(f"{which} question") for which in ("First", "Second")}
    said = {told.get(f"Answer to the {which}") for which in ("first", "second")}
    return "no" if len(asked) == 1 and len(said) == 2 else "yes"


def _letter(question: VerdictQuestion) -> str:
    """Return the question that shares the most words with the reasoning; the first, if several."""
    reasoning = _words(_quoted(question.prompt).get("Reasoning", ""))
    return max(question.options, key=lambda each: len(_words(each.text) & reasoning)).letter


def _quoted(prompt: str) -> dict[str, str]:
    return {
        each["name"]: re.sub(r"^> ?", "", each["text"], flags=re.MULTILINE)
        for each in _QUOTED.finditer(prompt)
    }


def _words(text: str) -> frozenset[str]:
    """Return the words that carry meaning, without their endings."""
    return frozenset(word[:5] for word in _WORD.findall(text.casefold()) if word not in _IDLE)
