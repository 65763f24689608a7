"""The schema of exported datasets: tables of Parquet, with a version."""

from collections.abc import Mapping
from datetime import datetime
from types import UnionType
from typing import Any, get_args, get_origin

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

VERSION = 1
"""Changes where a column is removed or gets another meaning; new columns may come at any time."""


class DatasetRow(BaseModel):
    """A row of a table; undefined numbers are null."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class DatasetRun(DatasetRow):
    """A run, a round of a monitor, or a window of traffic."""

    run_id: str
    suite: str
    targets: list[str]
    time: AwareDatetime = Field(validation_alias="at")
    state: str
    """running, diagnosing, judging, complete, incomplete or cancelled."""
    probes: int
    """Requested answers."""
    responses: int
    """Answers that arrived."""


class DatasetAnswer(DatasetRow):
    """An answer of a model, or the reason for its absence."""

    response_id: str
    run_id: str
    key: str
    """The probe's name in its suite, or the sender's id of a production answer."""
    time: AwareDatetime | None = Field(validation_alias="at")
    """Its arrival; for production answers, their own time."""
    target: str
    scaffold: str
    repeat: int
    """Number of the repeat, from 0."""
    unit: str
    """The unit of analysis."""
    set_name: str | None = Field(validation_alias="set")
    """The counterfactual set."""
    groups: dict[str, str]
    """Group by dimension."""
    stimuli: dict[str, str]
    """Values that represent the group or carry the question, by factor."""
    facts: dict[str, str]
    messages: str
    """The question, as JSON; empty without the right to texts."""
    text: str | None
    reasoning: str | None
    """Reasoning of the model before its answer."""
    reason: str | None
    """Reason for a missing answer."""
    baseline: str | None
    """Text that measurements are compared with."""
    model: str | None
    """The model that the provider reported."""
    finish_reason: str | None


class DatasetMeasurement(DatasetRow):
    """One number about one answer."""

    run_id: str
    response_id: str
    extractor: str
    version: str
    """Version of the extractor."""
    feature: str | None
    """Null for an extractor without any number."""
    value: float | None
    baseline: float | None
    """The same number of the baseline text."""
    missing: str | None
    """Reason for a missing number."""


class DatasetFinding(DatasetRow):
    """One comparison of two groups in a run."""

    run_id: str
    target: str
    scaffold: str
    extractor: str
    feature: str
    dimension: str
    a: str
    """The first group."""
    b: str
    """The second group, or `the rest`."""
    gap: float | None
    """Mean of a minus mean of b."""
    gap_low: float | None
    """Lower end of the interval, which covers together with all others of the family."""
    gap_high: float | None
    gap_reason: str | None
    """Reason for a missing gap or interval."""
    p_adjusted: float | None
    """P-value of a gap of at most the tolerance, corrected over the family."""
    same_treatment: str | None
    """Are twins treated differently: `differs`, `not shown`, or null if not asked."""
    p_same_treatment: float | None
    group_effect: str | None
    """Does the group matter beyond these names and texts."""
    p_group_effect: float | None
    headline: str
    """The question of the summary: same_treatment, group_effect or gap."""
    summary: str
    """disparity, no_disparity, inconclusive or not_measured."""
    survives_missing: bool | None
    """False if missing answers could overturn the verdict."""
    alpha: float
    """The level of the family."""
    tolerance: float
    """The largest difference that does not matter."""
    family: int
    """Number of comparisons that were corrected together."""


class DatasetGroup(DatasetRow):
    """One group's own numbers in a run."""

    run_id: str
    target: str
    scaffold: str
    extractor: str
    feature: str
    dimension: str
    group_name: str = Field(validation_alias="group")
    responses: int
    missing: int
    """Answers without this number."""
    units: int
    mean: float | None
    mean_low: float | None
    mean_high: float | None


class DatasetRound(DatasetRow):
    """The evidence about one comparison of a monitor at the end of a round."""

    monitor: str
    comparison: str
    round: int
    epoch: int
    """Evidence starts again with every epoch."""
    time: AwareDatetime = Field(validation_alias="at")
    units: int
    gap: float | None
    gap_low: float | None
    gap_high: float | None
    log_evidence: float
    bound: float
    """The log evidence that alarms."""
    verdict: str


class DatasetAlarm(DatasetRow):
    """An alarm of a monitor, raised or cleared."""

    monitor: str
    comparison: str
    time: AwareDatetime = Field(validation_alias="at")
    round: int
    kind: str
    """disparity, change, level or labelled."""
    state: str
    """raised or cleared."""
    description: str


TABLES: Mapping[str, type[DatasetRow]] = {
    "runs": DatasetRun,
    "answers": DatasetAnswer,
    "measurements": DatasetMeasurement,
    "findings": DatasetFinding,
    "groups": DatasetGroup,
    "rounds": DatasetRound,
    "alarms": DatasetAlarm,
}
"""The tables; each is a file, also where it has no rows."""
VIEWS = {
    "measured_answers": """SELECT answers.*, extractor, feature, value, missing
  FROM answers JOIN measurements USING (run_id, response_id)""",
    "disparities": "SELECT * FROM findings WHERE summary = 'disparity'",
    "raised_alarms": """SELECT * FROM alarms
  QUALIFY row_number() OVER (PARTITION BY monitor, comparison, kind ORDER BY time DESC) = 1
  AND state = 'raised'""",
}
"""Views beside those of the tables."""


def schema_document() -> dict[str, Any]:
    """Return the schema as JSON, with a description of each column."""
    tables = {name: row.model_json_schema(mode="serialization") for name, row in TABLES.items()}
    return {"version": VERSION, "tables": tables}


def views_sql() -> str:
    """Return the views of all tables for DuckDB, to be run in their folder."""
    tables = {name: f"FROM read_parquet('{name}.parquet')" for name in TABLES}
    head = (
        f"-- biaswatch dataset, schema version {VERSION}. In this folder: duckdb -init views.sql\n"
    )
    return head + "".join(
        f"CREATE OR REPLACE VIEW {name} AS {query};\n" for name, query in (tables | VIEWS).items()
    )


def arrow_schema(row: type[DatasetRow]) -> Any:
    """Return the Arrow schema of a table."""
    import pyarrow

    text = pyarrow.string()
    types = {
        str: text, float: pyarrow.float64(), int: pyarrow.int64(), bool: pyarrow.bool_(),
        datetime: pyarrow.timestamp("us", tz="UTC"), dict: pyarrow.map_(text, text),
        list: pyarrow.list_(text),
    }  # fmt: skip
    fields = [
        pyarrow.field(
            name,
            types[_kind(field.annotation)],
            nullable=_is_optional(field.annotation),
            metadata={"description": field.description or ""},
        )
        for name, field in row.model_fields.items()
    ]
    return pyarrow.schema(fields, metadata={"biaswatch.schema": str(VERSION)})


def _is_optional(annotation: Any) -> bool:
    return get_origin(annotation) is UnionType


def _kind(annotation: Any) -> type:
    """Return the Python type of a column."""
    inner = get_args(annotation)[0] if _is_optional(annotation) else annotation
    kind: type = get_origin(inner) or inner
    return datetime if kind is AwareDatetime else kind
