"""A diagnosis as it is requested, on the command line and in Python."""

from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, NonNegativeInt

from biaswatch.shared.contracts import Against, Claim
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

UNKNOWN_RANGE = "unknown"
"""Written in place of a range that is not known."""
Names = tuple[str, ...]


def _ranges(value: Any) -> Any:
    """Read ranges: a mapping of features to ends, or texts like `rating=1:10`, `words=unknown`."""
    if isinstance(value, Mapping):
        return {name: _ends(f"the range of {name!r}", ends) for name, ends in value.items()}
    ranges = {}
    for text in [value] if isinstance(value, str) else value:
        name, _, ends = text.rpartition("=")
        if not name:
            raise ValueError(f"{text} is not written like rating=1:10")
        ranges[name] = _ends(text, ends)
    return ranges


def _ends(place: str, value: Any) -> Bounds | None:
    if value is None or value == UNKNOWN_RANGE:
        return None
    parts = value.split(":") if isinstance(value, str) else value
    try:
        low, high = map(float, parts)
    except (TypeError, ValueError):
        low, high = inf, inf
    if not (isfinite(low) and low < high < inf):
        raise ValueError(
            f"{place} needs a number and a larger one, like rating=1:10 or (1, 10); where the ends"
            " are not known, write `unknown`"
        )
    return low, high


Ranges = Annotated[dict[str, Bounds | None], BeforeValidator(_ranges)]


def _by_feature(example: str) -> Callable[[Any], Any]:
    """Return a reader of a mapping by feature, or of texts like the example."""

    def read(value: Any) -> Any:
        if isinstance(value, Mapping):
            return value
        texts = [value] if isinstance(value, str) else value
        parts = [text.rpartition("=") for text in texts]
        if wrong := [text for text, (name, _, _) in zip(texts, parts, strict=True) if not name]:
            raise ValueError(f"{wrong[0]} is not written like {example}")
        return {name: of_feature for name, _, of_feature in parts}

    return read


Thresholds = Annotated[dict[str, FiniteFloat], BeforeValidator(_by_feature("rating=3"))]
Scales = Annotated[dict[str, Literal["log", "rank"]], BeforeValidator(_by_feature("words=log"))]


class DiagnoseRequest(BaseModel):
    """The columns of a diagnosis, what is declared about them, and its statistics."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    group: Names = ()
    """A column of groups, or any field of a run's probes; may be repeated."""
    feature: Names = ()
    """A column of numbers; may be repeated."""
    reference: str | None = None
    """The group that comparisons subtract, where they involve it."""
    unit: str | None = None
    """The column of units: the prompt, the user; by default each row is a unit."""
    set: str | None = None
    """The column of counterfactual sets."""
    random: Names = ()
    """A column of a random factor: names, texts, templates; may be repeated."""
    assigned: bool = False
    """Labels were assigned to units at random: without sets, `same_treatment` is tested too."""
    domain: Names = ()
    """Columns of domains, which are analysed separately."""
    baseline: str | None = None
    """The column of baseline values."""
    calibrate: bool = False
    """Diagnose value minus baseline value."""
    ranges: Ranges = Field(default={})
    """FEATURE=LOW:HIGH, the ends of its values, or FEATURE=unknown; may be repeated."""
    scale: Scales = Field(default={})
    """FEATURE=log or FEATURE=rank: compare a skewed feature, such as a length, on that scale."""
    truth: str | None = None
    """The column of right answers, 0 or 1: adds error rates by group."""
    selected_at_least: Thresholds = Field(default={})
    """FEATURE=VALUE, the lowest value that counts as selected; for error rates."""
    target: Names = ()
    """Only this target of a run; may be repeated."""
    scaffold: Names = ()
    """Only this scaffold of a run."""
    statistic: Names = ()
    """Statistics of each group; some by default."""
    compare: Against | None = None
    """Compare groups in pairs, or each with the rest; `auto`: pairs of up to six."""
    claim: Claim | None = None
    """Scope of the conclusions, `bank` or `population`; a run's suite declares it."""
    tolerance: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The largest gap that does not matter."""
    alpha: float | None = Field(default=None, gt=0, lt=1)
    """1 minus the coverage of intervals."""
    correction: str = "bonferroni"
    """Correction for several comparisons: holm, bh, by or bonferroni."""
    permutations: NonNegativeInt | None = None
    """Random relabellings of all groups, 1000 by default; if set, of each comparison as well."""
    seed: NonNegativeInt = 0
    """Random seed."""
    ddof: int = 0
    """Delta degrees of freedom of deviations: 0 as in SAGED, or 1."""
    labels: dict[str, Names] | Names = ()
    """Columns of labels by people, or FEATURE=COLUMN; of the truth, TRUTH=COLUMN."""
    text: Names = ()
    """Columns of texts to show beside the cases of a table."""
    probability: str | None = None
    """The column of each row's probability of being labelled; by default all are equal."""
