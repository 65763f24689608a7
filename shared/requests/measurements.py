"""What was measured of a run's answers as the API shows it: no texts."""

from pydantic import BaseModel, ConfigDict

from biaswatch.shared.contracts import Against, Claim


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
