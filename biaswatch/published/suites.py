"""Suites of published benchmarks, and their scores from the answers of a run."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from statistics import fmean

from biaswatch.published.choices import (
    Wording,
    agrees,
    bold_probes,
    crows_pairs_probes,
    decoding_trust_probes,
    discrim_eval_probes,
    real_toxicity_probes,
    stereoset_probes,
    winobias_probes,
)
from biaswatch.published.datasets import PublishedDataset
from biaswatch.published.group_choices import iberian_bbq_probes, kobbq_probes, seegull_probes
from biaswatch.published.holistic_bias import holistic_bias_probes
from biaswatch.shared.contracts import LIKELIHOOD, Ending, Response, Suite, SuiteProbe
from biaswatch.shared.errors import UsageError
from biaswatch.shared.lookup import grouped
from biaswatch.shared.parsing import Unreadable, choice_in, yes_or_no_in
from biaswatch.shared.stats.studies.published_choices import (
    PublishedScore,
    crows_pairs_scores,
    kobbq_scores,
    stereoset_scores,
    winobias_scores,
)
from biaswatch.shared.stats.studies.published_texts import (
    agreement_scores,
    descriptor_scores,
    discrimination_scores,
    empirical_logit,
    polarity_scores,
    toxicity_scores,
)

BASELINE = {"race": "white", "gender": "male", "age": "60"}
"""Reference group of discrim-eval."""
STUDY = "published"
"""Fact of a probe with the name of its benchmark."""


@dataclass(frozen=True)
class ScoredRun:
    """The scores of one target."""

    study: str
    target: str
    scores: Sequence[PublishedScore]
    answers: int
    unread: int
    """Responses that no score counts."""


Numbers = Mapping[str, float]
"""Measured value by id of the response."""


def scored(responses: Iterable[Response], measured: Numbers) -> list[ScoredRun]:
    """Return the scores of each target and benchmark.

    Parameters
    ----------
    responses
        Responses of a run of a published suite.
    measured
        The sentiment (BOLD, HolisticBias) or toxicity (RealToxicityPrompts) of each answer.
    """
    parts = grouped(
        ((study, response.probe.target.name), response)
        for response in responses
        if (study := response.probe.facts.get(STUDY))
    )
    if not parts:
        raise UsageError("The run has no answers to a published benchmark.")
    return [_scored(*key, part, measured) for key, part in sorted(parts.items())]


def _scored(study: str, target: str, responses: Sequence[Response], measured: Numbers) -> ScoredRun:
    scores, read = SCORERS[study](responses, measured)
    return ScoredRun(study, target, scores, len(responses), len(responses) - read)


Scores = tuple[list[PublishedScore], int]
Scorer = Callable[[Sequence[Response], Numbers], Scores]


def _first_chosen(responses: Sequence[Response]) -> Iterator[tuple[Response, bool]]:
    """Yield each readable answer, with True if it chooses the expected text."""
    for response in responses:
        if response.ending is Ending.ANSWERED and response.text:
            try:
                mark = choice_in(response.text, "AB")
            except Unreadable:
                continue
            yield response, mark == response.probe.expected


Choices = list[tuple[str, str, bool]]
"""For each answer: its unit, a fact of its question, and whether it is the expected one."""


def _by_fact(fact: str, scores_of: Callable[[Choices], list[PublishedScore]]) -> Scorer:
    """Return the scorer of a benchmark that counts choices by a fact of their questions."""

    def score(responses: Sequence[Response], _: Numbers) -> Scores:
        chosen = _first_chosen(responses)
        rows = [(response.probe.unit_id, response.probe.facts[fact], c) for response, c in chosen]
        return scores_of(rows), len(rows)

    return score


def _stereoset(responses: Sequence[Response], _: Numbers) -> Scores:
    facts = [
        (r.probe.facts, _likelier_by_token(r) if r.scored else chosen)
        for r, chosen in _first_chosen(responses)
    ]
    rows = [(fact["target"], fact["compared"], chosen) for fact, chosen in facts]
    return stereoset_scores(rows), len(rows)


def _likelier_by_token(response: Response) -> bool:
    """Tell whether the first text has the larger mean log-probability, whatever its length."""
    first, second = (fmean(option.logprobs) for option in response.scored)
    return first > second


def _kobbq(responses: Sequence[Response], _: Numbers) -> Scores:
    rows = [
        (r.probe.unit_id, facts["condition"], mark == r.probe.expected, mark in facts["biased"])
        for r in responses
        if r.ending is Ending.ANSWERED and r.text
        for facts in [r.probe.facts]
        for mark in _marks_in(r.text)
    ]
    return kobbq_scores(rows), len(rows)


def _marks_in(text: str) -> Iterator[str]:
    """Yield the letter of the chosen option, if one can be read."""
    with suppress(Unreadable):
        yield choice_in(text, "ABC")


def _discrimination(responses: Sequence[Response], _: Numbers) -> Scores:
    if scored := [response for response in responses if response.scored]:
        logits = [
            (r.probe.facts["question"], r.probe.groups, fsum(yes.logprobs) - fsum(no.logprobs))
            for r in scored
            for yes, no in [r.scored]
        ]
        return discrimination_scores(logits, BASELINE), len(logits)
    answers: dict[str, list[bool]] = defaultdict(list)
    probes = {response.probe.key: response.probe for response in responses}
    for response in responses:
        if response.ending is Ending.ANSWERED and response.text:
            try:
                answer = yes_or_no_in(response.text)
            except Unreadable:
                continue
            answers[response.probe.key].append(answer == "yes")
    rows = [
        (probes[key].facts["question"], probes[key].groups, empirical_logit(favourable))
        for key, favourable in answers.items()
    ]
    return discrimination_scores(rows, BASELINE), sum(map(len, answers.values()))


def _agreement(responses: Sequence[Response], _: Numbers) -> Scores:
    rows = [
        (r.probe.set_id or r.probe.unit_id, r.probe.groups["group"], agrees(r.text) is True)
        for r in responses
        if r.ending is Ending.ANSWERED and r.text
    ]
    return agreement_scores(rows), len(rows)


def _polarity(responses: Sequence[Response], measured: Numbers) -> Scores:
    rows = [
        (r.probe.unit_id, group, measured[r.id])
        for r in responses
        if r.id in measured
        for group in r.probe.groups.values()
    ]
    return polarity_scores(rows), len(rows)


def _toxicity(responses: Sequence[Response], measured: Numbers) -> Scores:
    rows = [(r.probe.key, measured[r.id]) for r in responses if r.id in measured]
    return toxicity_scores(rows), len(rows)


def _score_descriptors(responses: Sequence[Response], measured: Numbers) -> Scores:
    rows = [
        (r.probe.facts["axis"], r.probe.facts["descriptor"], measured[r.id])
        for r in responses
        if r.id in measured
    ]
    return descriptor_scores(rows), len(rows)


SCORERS: Mapping[str, Scorer] = {
    "crows-pairs": _by_fact("direction", crows_pairs_scores),
    "crows-pairs-fr": _by_fact("direction", crows_pairs_scores),
    "kobbq": _kobbq,
    "esbbq": _kobbq,
    "cabbq": _kobbq,
    "seegull": _kobbq,
    "stereoset": _stereoset,
    "winobias": _by_fact("condition", winobias_scores),
    "discrim-eval": _discrimination,
    "decodingtrust-stereotype": _agreement,
    "bold": _polarity,
    "real-toxicity-prompts": _toxicity,
    "holistic-bias": _score_descriptors,
}
MEASURED = {
    "bold": ("vader", "sentiment"),
    "holistic-bias": ("vader", "sentiment"),
    "real-toxicity-prompts": ("toxicity", "toxicity_score"),
}
"""Extractor and feature of each score."""

READERS: Mapping[str, Callable[[Mapping[str, Path], Wording], Iterator[SuiteProbe]]] = {
    "crows-pairs": crows_pairs_probes,
    "crows-pairs-fr": crows_pairs_probes,
    "kobbq": kobbq_probes,
    "esbbq": iberian_bbq_probes,
    "cabbq": iberian_bbq_probes,
    "seegull": seegull_probes,
    "stereoset": stereoset_probes,
    "winobias": winobias_probes,
    "discrim-eval": discrim_eval_probes,
    "decodingtrust-stereotype": decoding_trust_probes,
    "bold": bold_probes,
    "real-toxicity-prompts": real_toxicity_probes,
    "holistic-bias": holistic_bias_probes,
}
GROUP_CHOICES = {"kobbq", "esbbq", "cabbq", "seegull"}
CHOICES = {"crows-pairs", "crows-pairs-fr", "stereoset", "winobias"} | GROUP_CHOICES
SCORED = {
    "crows-pairs": "preference",
    "crows-pairs-fr": "preference",
    "stereoset": "preference_per_token",
    "winobias": "preference",
    "discrim-eval": "preference",
}
"""Benchmarks whose papers compare likelihoods, and the feature that does."""
DEFAULT_WORDING = Wording()
EXTRACTORS = {
    "bold": ("vader",),
    "holistic-bias": ("vader",),
    "real-toxicity-prompts": ("toxicity",),
}


def published_suite(
    dataset: PublishedDataset,
    files: Mapping[str, Path],
    wording: Wording = DEFAULT_WORDING,
    *,
    most: int | None = None,
) -> Suite:
    """Return the suite of a fetched benchmark, or of its first `most` questions.

    Raises
    ------
    UsageError
        A file does not have the benchmark's format, or is empty; or the benchmark is one of written
        texts, which cannot be scored.
    """
    if wording.scored and dataset.name not in SCORED:
        raise UsageError(
            f"{dataset.name} measures texts that a model writes: leave out --likelihood, which is"
            f" for {', '.join(SCORED)} and bbq."
        )
    probes: list[SuiteProbe] = []
    for probe in READERS[dataset.name](files, wording):
        if most is not None and len(probes) == most:
            break
        facts = {**probe.facts, STUDY: dataset.name}
        probes.append(probe.model_copy(update={"facts": facts}))
    if not probes:
        raise UsageError(f"The files of {dataset.name} hold no question.")
    chosen = dataset.name in CHOICES
    extractors: tuple[str, ...] = (
        ("choice",) if chosen else EXTRACTORS.get(dataset.name, ("words",))
    )
    features: tuple[str, ...] = ("correct",) if chosen else ()
    if wording.scored:
        extractors = ("choice", LIKELIHOOD) if chosen else (LIKELIHOOD,)
        features = (*features, SCORED[dataset.name])
    return Suite(
        name=dataset.name,
        about=about(dataset),
        extractors=extractors,
        features=features,
        scaffolds=(LIKELIHOOD,) if wording.scored else ("direct",),
        strata=_strata(dataset.name, probes),
        probes=tuple(probes),
    )


def about(dataset: PublishedDataset) -> str:
    """Return citation, licence, meaning and known problems of a benchmark."""
    problems = " ".join(dataset.problems)
    return (
        f"{dataset.citation}. Licence: {dataset.licence}. {dataset.meaning}"
        f" Known against it: {problems}"
    )


def _strata(name: str, probes: list[SuiteProbe]) -> tuple[str, ...]:
    wanted = {
        "crows-pairs": "direction",
        "crows-pairs-fr": "direction",
        **dict.fromkeys(GROUP_CHOICES - {"seegull"}, "condition"),
        "seegull": "category",
        "stereoset": "compared",
        "winobias": "condition",
        "real-toxicity-prompts": "prompt_toxicity",
    }.get(name)
    return (wanted,) if wanted and any(wanted in probe.facts for probe in probes) else ()
