"""Exported answers and measurements."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from biaswatch.shared.contracts import (
    Against,
    Claim,
    ExtractorPin,
    Features,
    Message,
    Probe,
    Purpose,
    Response,
)

NOT_ARRIVED = "did not arrive"


class ExportedBody(BaseModel):
    """A body whose fields are described in OpenAPI."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class ExportedAnswer(ExportedBody):
    """One answer with its question; texts are empty where they may not be read."""

    response_id: str
    run_id: str
    key: str
    """The probe's name in its suite, or the sender's id of a production answer."""
    at: datetime | None
    """When it came; of production answers, when they were given. Null where none came."""
    target: str
    scaffold: str
    repeat: int
    unit: str
    set: str | None
    groups: dict[str, str]
    facts: dict[str, str]
    messages: tuple[Message, ...] = ()
    baseline: str | None = None
    """The text a measurement is compared with."""
    text: str | None = None
    reasoning: str | None = None
    """What the model wrote before its answer."""
    reason: str | None = None
    """Why there is no answer."""
    model: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None


class ExportedFeatures(ExportedBody):
    """What one extractor at one version read in one answer."""

    response_id: str
    extractor: str
    version: str
    values: dict[str, float | None] = {}
    """Null where a feature is undefined for this answer."""
    baseline: dict[str, float | None] = {}
    """The same features of the baseline text, where there is one."""
    missing: str | None = None
    """Why there are no values at all."""


class AnswersPage(ExportedBody):
    """Some answers of a run, in an order that never changes."""

    answers: list[ExportedAnswer]
    after: str | None
    """Where the next page begins; null at the end."""


class FeaturesPage(ExportedBody):
    """Measurements of the answers that the same page of answers has."""

    features: list[ExportedFeatures]
    after: str | None
    """Where the next page begins; null at the end."""


class MonitorRun(ExportedBody):
    """The run of a monitor's round, or of a window of traffic."""

    run_id: str
    at: datetime
    """When the round was closed, or the window begins."""
    archived: str | None = None
    """What became of its answers, where they are not in the store: they cannot be exported."""


def exported_answer(probe: Probe, response_id: str, response: Response | None) -> ExportedAnswer:
    """Return an answer as it is handed out; of one that has not come, its plan alone."""
    plan = {
        "response_id": response_id, "run_id": probe.run_id, "key": probe.key,
        "target": probe.target.name, "scaffold": probe.scaffold, "repeat": probe.repeat,
        "unit": probe.unit_id, "set": probe.set_id, "groups": probe.groups, "facts": probe.facts,
    }  # fmt: skip
    if response is None:
        return ExportedAnswer.model_validate({**plan, "at": None, "reason": NOT_ARRIVED})
    said = response.model_dump(
        include={"at", "text", "reasoning", "reason", "model", "fingerprint", "finish_reason"}
    )
    # The stored question: that of the suite would be a text which may not be read, or is purged.
    asked = response.probe
    if probe.purpose is Purpose.PRODUCTION:
        said["at"] = asked.at
    return ExportedAnswer.model_validate(
        {**plan, **said, "messages": asked.messages, "baseline": asked.baseline}
    )


def exported_features(
    response_id: str, measured: Iterable[Features], pinned: Sequence[ExtractorPin]
) -> list[ExportedFeatures]:
    """Return what every extractor read in an answer; of pinned ones also that nothing came."""
    found = [
        ExportedFeatures(
            response_id=response_id,
            extractor=each.extractor,
            version=each.extractor_version,
            values=each.values,
            baseline=each.baseline,
            missing=each.unscorable,
        )
        for each in measured
    ]
    there = {(each.extractor, each.version) for each in found}
    found += [
        ExportedFeatures(
            response_id=response_id, extractor=pin.name, version=pin.version, missing=NOT_ARRIVED
        )
        for pin in pinned
        if (pin.name, pin.version) not in there
    ]
    return sorted(found, key=lambda each: (each.extractor, each.version))


class DescribedBody(BaseModel):
    """A body whose fields are described in OpenAPI."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class PinnedExtractor(DescribedBody):
    """An extractor of a run, and what it measures."""

    name: str
    version: str
    features: list[str]


class DeclaredAnalysis(DescribedBody):
    """What a run's suite declares of its analysis, and what there is to analyse."""

    run_id: str
    suite: str
    claim: Claim
    """What conclusions are about."""
    features: list[str]
    """Which features are diagnosed; all that are measured, where none is named."""
    selected_at_least: dict[str, float]
    """From which value of a feature on an answer counts as a selection."""
    ranges: dict[str, tuple[float, float]] = {}
    """The least and the largest value of a feature; a value beyond counts as missing."""
    compared: Against = Against.AUTO
    """What each group is compared with."""
    strata: list[str] = []
    """Facts or dimensions of groups that are described and never compared."""
    extractors: list[PinnedExtractor]
    targets: list[str]
    scaffolds: list[str]
    answers: int
    """How many answers are asked for; so many measurements there are."""
    alpha: float | None
    """The level of the run's findings; null while there are none."""
    tolerance: float | None
    """Their largest difference that does not matter."""


class Measurement(DescribedBody):
    """What one extractor read from an answer."""

    values: dict[str, float | None] = {}
    """The value of each feature; null where it is undefined for this answer."""
    baseline: dict[str, float | None] = {}
    """The same features of the probe's baseline text, where it has one."""
    missing: str | None = None
    """Why there are no values at all."""


class AnswerMeasurements(DescribedBody):
    """One answer of a run: what is known of its probe, and what each extractor measured."""

    key: str
    """The probe's name in its suite."""
    target: str
    scaffold: str
    repeat: int
    """Which repeat of the same question it answers, counted from 0."""
    unit: str
    """The unit of analysis: the prompt."""
    set: str | None
    """The counterfactual set."""
    groups: dict[str, str]
    """Whom the probe is about, by dimension."""
    facts: dict[str, str]
    """What else is known of the probe: its category, its keyword, its source."""
    measured: dict[str, Measurement]
    """By extractor."""
