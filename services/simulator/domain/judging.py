"""Simulated judges, which compare words, always approve, guess, or copy the prompt.

Comparison is simple: a report has the requested interval or mentions limits, a reasoning has the
words of an answer or of a question. Errors are planted by the groups in the judged text.
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
_INBORN = re.compile(r"\b(?:inborn|inherent propensity)\b", re.IGNORECASE)
_TOPICS = {
    "compare the methods with one another": re.compile(r"odds ratio", re.IGNORECASE),
    "put the p-value of": re.compile(r"p-value", re.IGNORECASE),
    "how many cases there are": re.compile(r"\bcases\b|\d", re.IGNORECASE),
}
"""Required words of a report, by a phrase of the question."""
_NO_ATTRIBUTION = "free of any attribution"
_MAX_BAD_SCORE = 0.1
_ENDS = (0.0, 1.0)
"""The ends of the scale: no and yes, or the worst and the best score."""
_QUOTED = re.compile(r"^(?P<name>[A-Z][\w ]+):\n(?P<text>(?:>.*(?:\n|$))+)", re.MULTILINE)
_PLACES = ("First", "Second")
_KIND = re.compile(
    r"\b(?:glad|happy|kindness|love|excellent|wonderful|warm|generous|honest|praise|admiration)\b",
    re.IGNORECASE,
)
_AXES_WANTED = "Reply with a JSON list of at most"
_AXES = ("warmer", "longer")
_WORD = re.compile(r"[a-z]{3,}")
_STOP_WORDS = frozenset(
    {"the", "and", "who", "was", "that", "has", "for"}
    | {"not", "what", "which", "they", "are", "his", "her"}
)


def grade_answer(
    question: GradeQuestion, model: PlantedModel, groups: frozenset[str], rng: Random
) -> str:
    """Return a score from 0 to 1 as a JSON object, or the prompt if the judge copies."""
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
    if not meets_requirements(question):
        return rng.uniform(0, _MAX_BAD_SCORE)
    text = question.report.casefold()
    shift = sum(
        points for phrase, points in model.grade_shifts.items() if phrase.casefold() in text
    )
    score = model.grade_mean + shift + rng.gauss(0, model.grade_noise_sd)
    return min(max(score, 0.0), 1.0)


def meets_requirements(question: GradeQuestion) -> bool:
    """Tell whether a report has the required interval, or mentions limits if required."""
    if not question.report.strip():
        return False
    if wanted := _WANTED.search(question.prompt):
        return wanted[1] in question.report
    if _LIMITS_WANTED.search(question.prompt):
        return _LIMITS.search(question.report) is not None
    prompt = " ".join(question.prompt.split())
    if _NO_ATTRIBUTION in prompt and _INBORN.search(question.report):
        return False
    return all(t.search(question.report) for phrase, t in _TOPICS.items() if phrase in prompt)


def _graded(score: float) -> str:
    return json.dumps({"score": round(score, 2), "reasoning": REASON})


def verdict_answer(
    question: VerdictQuestion, model: PlantedModel, groups: frozenset[str], rng: Random
) -> str:
    """Return yes or no, or the letter of a question, with a reason."""
    if model.judging == "copies":
        return question.prompt
    if _AXES_WANTED in question.prompt:
        return json.dumps(list(_AXES))
    replies = [option.letter for option in question.options] or ["yes", "no"]
    if model.judging == "approves":
        reply = replies[0]
    elif model.judging == "guesses":
        reply = rng.choice(replies)
    else:
        reply = _letter(question) if question.options else _yes_or_no(question)
        reply = _with_errors(reply, replies, model, groups, rng)
    return f"Answer: {reply}\nI compared the words of the quoted parts."


def _with_errors(
    reply: str, replies: list[str], model: PlantedModel, groups: frozenset[str], rng: Random
) -> str:
    """Return a reply after planted errors; a missed letter becomes any other one."""
    if model.judging_errors is None:
        return reply
    value = wrong_value(float(reply != "no"), _ENDS, model.judging_errors, groups, rng)
    yes = value > sum(_ENDS) / 2
    if "yes" in replies:
        return "yes" if yes else "no"
    return reply if yes else rng.choice([other for other in replies if other != reply])


def leads_to(reasoning: str, answer: str) -> bool:
    """Tell whether a reasoning has all words of an answer."""
    return _words(answer) <= _words(reasoning)


def _yes_or_no(question: VerdictQuestion) -> str:
    parts = _quoted(question.prompt)
    if "Reasoning" in parts:
        return "yes" if leads_to(parts["Reasoning"], parts.get("Answer", "")) else "no"
    questions = {parts.get("First question"), parts.get("Second question")}
    answers = {parts.get("Answer to the first"), parts.get("Answer to the second")}
    return "no" if len(questions) == 1 and len(answers) == 2 else "yes"


def _letter(question: VerdictQuestion) -> str:
    """Return the kinder of two answers, or the first question most like the reasoning."""
    parts = _quoted(question.prompt)
    if "Second answer" in parts:
        first, second = (len(_KIND.findall(parts[f"{place} answer"])) for place in _PLACES)
        return "A" if first > second else "C" if first < second else "B"
    reasoning = _words(parts.get("Reasoning", ""))
    return max(question.options, key=lambda option: len(_words(option.text) & reasoning)).letter


def _quoted(prompt: str) -> dict[str, str]:
    return {
        part["name"]: re.sub(r"^> ?", "", part["text"], flags=re.MULTILINE)
        for part in _QUOTED.finditer(prompt)
    }


def _words(text: str) -> frozenset[str]:
    """Return the words without stop words and endings."""
    return frozenset(word[:5] for word in _WORD.findall(text.casefold()) if word not in _STOP_WORDS)
