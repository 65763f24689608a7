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
from biaswatch.shared.contracts.derived_features import Scale
from biaswatch.shared.contracts.tools import ToolStep

NOT_ARRIVED = "did not arrive"
ANSWER_FIELDS = {
    *("at", "text", "said", "tool_steps", "reasoning", "reason"),
    *("model", "fingerprint", "finish_reason"),
}
"""The fields of a response that an exported answer has, too."""


class DescribedBody(BaseModel):
    """A body whose fields are described in OpenAPI."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class ExportedAnswer(DescribedBody):
    """One answer with its question; unreadable texts are empty."""

    response_id: str
    run_id: str
    key: str
    """The probe's name in its suite, or the sender's id of a production answer."""
    at: datetime | None
    """Time of arrival; for production answers, their own time. Null if none arrived."""
    target: str
    scaffold: str
    repeat: int
    unit: str
    set: str | None
    groups: dict[str, str]
    stimuli: dict[str, str] = {}
    facts: dict[str, str]
    messages: tuple[Message, ...] = ()
    baseline: str | None = None
    """Text that measurements are compared with."""
    text: str | None = None
    said: dict[str, str] = {}
    """Texts of the calls of a scaffold, by step: `turn:3` is a reply of a conversation."""
    tool_steps: tuple[ToolStep, ...] = ()
    """Calls of tools that led to the answer, in their order."""
    reasoning: str | None = None
    """Reasoning that the model wrote before its answer."""
    reason: str | None = None
    """Reason for a missing answer."""
    model: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None


class ExportedFeatures(DescribedBody):
    """Measurements of one answer by one extractor at one version."""

    response_id: str
    extractor: str
    version: str
    values: dict[str, float | None] = {}
    """Value by feature; null if it is undefined for this answer."""
    baseline: dict[str, float | None] = {}
    """The same features of the baseline text, if it exists."""
    missing: str | None = None
    """Reason for missing values."""


class AnswersPage(DescribedBody):
    """Some answers of a run, in an order that never changes."""

    answers: list[ExportedAnswer]
    after: str | None
    """The beginning of the next page; null at the end."""


class FeaturesPage(DescribedBody):
    """Measurements of the answers of the same page."""

    features: list[ExportedFeatures]
    after: str | None
    """The beginning of the next page; null at the end."""


class MonitorRun(DescribedBody):
    """The run of a monitor's round, or of a window of traffic."""

    run_id: str
    at: datetime
    """The end of the round, or the beginning of the window."""
    archived: str | None = None
    """A sentence about archived answers, which cannot be exported."""


def exported_answer(probe: Probe, response_id: str, response: Response | None) -> ExportedAnswer:
    """Return an answer for export; a missing one has only the fields of its plan."""
    plan = {
        "response_id": response_id, "run_id": probe.run_id, "key": probe.key,
        "target": probe.target.name, "scaffold": probe.scaffold, "repeat": probe.repeat,
        "unit": probe.unit_id, "set": probe.set_id, "groups": probe.groups,
        "stimuli": probe.stimuli, "facts": probe.facts,
    }  # fmt: skip
    if response is None:
        return ExportedAnswer.model_validate({**plan, "at": None, "reason": NOT_ARRIVED})
    answer = response.model_dump(include=ANSWER_FIELDS)
    # The stored question, because that of the suite could be unreadable or purged.
    stored = response.probe
    if probe.purpose is Purpose.PRODUCTION:
        answer["at"] = stored.at
    return ExportedAnswer.model_validate(
        {**plan, **answer, "messages": stored.messages, "baseline": stored.baseline}
    )


def exported_features(
    response_id: str, measured: Iterable[Features], pinned: Sequence[ExtractorPin]
) -> list[ExportedFeatures]:
    """Return the measurements of an answer, and of pinned extractors also missing ones."""
    exported = [
        ExportedFeatures(
            response_id=response_id,
            extractor=features.extractor,
            version=features.extractor_version,
            values=features.values,
            baseline=features.baseline,
            missing=features.unscorable,
        )
        for features in measured
    ]
    arrived = {(row.extractor, row.version) for row in exported}
    exported += [
        ExportedFeatures(
            response_id=response_id, extractor=pin.name, version=pin.version, missing=NOT_ARRIVED
        )
        for pin in pinned
        if (pin.name, pin.version) not in arrived
    ]
    return sorted(exported, key=lambda row: (row.extractor, row.version))


class PinnedExtractor(DescribedBody):
    """An extractor of a run, with its features."""

    name: str
    version: str
    features: list[str]


class DeclaredAnalysis(DescribedBody):
    """The analysis that a run's suite declares, and its data."""

    run_id: str
    suite: str
    claim: Claim
    """The population of the conclusions."""
    features: list[str]
    """Diagnosed features; if empty, all that are measured."""
    selected_at_least: dict[str, float]
    """Lowest value of a feature that counts as a selection."""
    error_rates: list[str] = []
    """Features whose decisions are compared with the expected answers."""
    ranges: dict[str, tuple[float, float]] = {}
    """Minimum and maximum of a feature; other values count as missing."""
    scale: dict[str, Scale] = {}
    """Features that are compared on logarithms or ranks."""
    compared: Against = Against.AUTO
    """The reference of each group."""
    random: list[str] = []
    """Stimuli whose values could have been drawn differently."""
    gaps_by: list[str] = []
    """Strata by whose levels groups are compared, too."""
    strata: list[str] = []
    """Facts or dimensions of groups that are described and never compared."""
    extractors: list[PinnedExtractor]
    targets: list[str]
    scaffolds: list[str]
    answers: int
    """Number of planned answers; each has measurements."""
    alpha: float | None
    """Significance level of the run's findings; null before the diagnosis."""
    tolerance: float | None
    """Their tolerance."""


class Measurement(DescribedBody):
    """Measurement of an answer by one extractor."""

    values: dict[str, float | None] = {}
    """Value of each feature; null if it is undefined for this answer."""
    baseline: dict[str, float | None] = {}
    """The same features of the probe's baseline text, if it has one."""
    missing: str | None = None
    """Reason for missing values."""


class AnswerMeasurements(DescribedBody):
    """One answer of a run: its probe and its measurements."""

    key: str
    """The probe's name in its suite."""
    target: str
    scaffold: str
    repeat: int
    """Number of the repeat, from 0."""
    unit: str
    """The unit of analysis: the prompt."""
    set: str | None
    """The counterfactual set."""
    groups: dict[str, str]
    """Groups that the probe is about, by dimension."""
    stimuli: dict[str, str] = {}
    """Names and texts that represent the group or carry the question."""
    facts: dict[str, str]
    """Other facts of the probe: its category, its keyword, its source."""
    truth: float | None = None
    """The expected answer of the probe, where it is a number."""
    measured: dict[str, Measurement]
    """Measurement by extractor."""
