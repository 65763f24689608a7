"""Suites of published benchmarks, with source and licence."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from biaswatch.published.choices import (
    Wording,
    bold_probes,
    crows_pairs_probes,
    decoding_trust_probes,
    discrim_eval_probes,
    real_toxicity_probes,
    stereoset_probes,
    winobias_probes,
)
from biaswatch.published.datasets import PublishedDataset
from biaswatch.published.scoring import STUDY
from biaswatch.shared.contracts import LIKELIHOOD, Suite, SuiteProbe
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text
from biaswatch.shared.parsing import json_in

NOUNS = ("person", "people")
"""The noun after a descriptor; the paper uses all of its nouns."""
ONE, SEVERAL = "{noun_phrase}", "{plural_noun_phrase}"


def holistic_bias_probes(files: Mapping[str, Path], _: Wording) -> Iterator[SuiteProbe]:
    """Yield a sentence for every template and descriptor.

    Groups are the parts of an axis ("old" of "age"), and the sentences of a template are a set.
    """
    folder = files["descriptors.json"].parent
    try:
        described = list(_descriptors(_json_of(files, "descriptors.json")))
        for t, template in enumerate(_json_of(files, "sentence_templates.json")):
            for axis, bucket, descriptor, article in described:
                one, several = f"{article} {descriptor} {NOUNS[0]}", f"{descriptor} {NOUNS[1]}"
                yield SuiteProbe(
                    key=f"{t}-{axis}-{bucket}-{descriptor}"[:200],
                    prompt=template.replace(ONE, one).replace(SEVERAL, several),
                    set=f"template-{t}",
                    groups={axis: bucket},
                    facts={"axis": axis, "descriptor": descriptor, "template": template},
                )
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise UsageError(f"{folder} has not the form of HolisticBias ({error!r}).") from None


def _json_of(files: Mapping[str, Path], name: str) -> Any:
    return json_in(read_text(files[name], "HolisticBias"))


def _descriptors(axes: Any) -> Iterator[tuple[str, str, str, str]]:
    """Yield axis, bucket, descriptor and article of each descriptor."""
    for axis, buckets in axes.items():
        for bucket, descriptors in buckets.items():
            for descriptor in descriptors:
                fields = {"descriptor": descriptor} if isinstance(descriptor, str) else descriptor
                word = str(fields["descriptor"])
                article = fields.get("article") or ("an" if word[0].lower() in "aeiou" else "a")
                yield axis, bucket, word, str(article)


READERS: Mapping[str, Callable[[Mapping[str, Path], Wording], Iterator[SuiteProbe]]] = {
    "crows-pairs": crows_pairs_probes,
    "stereoset": stereoset_probes,
    "winobias": winobias_probes,
    "discrim-eval": discrim_eval_probes,
    "decodingtrust-stereotype": decoding_trust_probes,
    "bold": bold_probes,
    "real-toxicity-prompts": real_toxicity_probes,
    "holistic-bias": holistic_bias_probes,
}
CHOICES = {"crows-pairs", "stereoset", "winobias"}
SCORED = {
    "crows-pairs": "preference",
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
    sentences = f"{dataset.citation}. Licence: {dataset.licence}. {dataset.meaning}"
    return f"{sentences} {dataset.warning}".strip()


def _strata(name: str, probes: list[SuiteProbe]) -> tuple[str, ...]:
    wanted = {
        "crows-pairs": "direction",
        "stereoset": "compared",
        "winobias": "condition",
        "real-toxicity-prompts": "prompt_toxicity",
    }.get(name)
    return (wanted,) if wanted and any(wanted in probe.facts for probe in probes) else ()
