"""Files of a published benchmark become a suite that says whose it is and under which terms."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from biaswatch.published.choices import crows_pairs_probes, stereoset_probes, winobias_probes
from biaswatch.published.datasets import PublishedDataset
from biaswatch.published.holistic import holistic_bias_probes
from biaswatch.published.scoring import STUDY
from biaswatch.published.texts import (
    bold_probes,
    decoding_trust_probes,
    discrim_eval_probes,
    real_toxicity_probes,
)
from biaswatch.shared.contracts import Suite, SuiteProbe
from biaswatch.shared.errors import UsageError

READERS: Mapping[str, Callable[[Mapping[str, Path], int], Iterator[SuiteProbe]]] = {
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
EXTRACTORS = {
    "bold": ("vader",),
    "holistic-bias": ("vader",),
    "real-toxicity-prompts": ("toxicity",),
}


def published_suite(
    dataset: PublishedDataset, files: Mapping[str, Path], *, seed: int = 0, most: int | None = None
) -> Suite:
    """Return the suite of a fetched benchmark, or of its first `most` questions.

    Raises
    ------
    UsageError
        A file has not the benchmark's form, or holds nothing.
    """
    probes: list[SuiteProbe] = []
    for probe in READERS[dataset.name](files, seed):
        if most is not None and len(probes) == most:
            break
        facts = {**probe.facts, STUDY: dataset.name}
        probes.append(probe.model_copy(update={"facts": facts}))
    if not probes:
        raise UsageError(f"The files of {dataset.name} hold no question.")
    chosen = dataset.name in CHOICES
    extractors = ("choice",) if chosen else EXTRACTORS.get(dataset.name, ("words",))
    return Suite(
        name=dataset.name,
        about=about(dataset),
        extractors=extractors,
        features=("correct",) if chosen else (),
        strata=_strata(dataset.name, probes),
        probes=tuple(probes),
    )


def about(dataset: PublishedDataset) -> str:
    """Return what is known of a benchmark, in sentences."""
    said = f"{dataset.citation}. Licence: {dataset.licence}. {dataset.meaning}"
    return f"{said} {dataset.warning}".strip()


def _strata(name: str, probes: list[SuiteProbe]) -> tuple[str, ...]:
    wanted = {
        "crows-pairs": "direction",
        "stereoset": "compared",
        "winobias": "condition",
        "real-toxicity-prompts": "prompt_toxicity",
    }.get(name)
    there = any(wanted in probe.facts for probe in probes) if wanted else False
    return (wanted,) if wanted and there else ()
