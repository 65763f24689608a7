"""`bw.table` and `bw.measure`: analyse a 2x2 table of counts, and measure texts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import narwhals as nw
import pandas as pd

from biaswatch.api.frames import html_of, native_frame
from biaswatch.api.judges import Judge
from biaswatch.measuring import TextMeasurer
from biaswatch.render.table_rows import conclusion_of
from biaswatch.services.extractor.domain import FunctionExtractor, Unscorable
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two

MEASURES = ("odds_ratio", "relative_risk", "risk_difference", "impact_ratio")


@dataclass(frozen=True, repr=False)
class TableFindings:
    """Measures and tests of a 2x2 table."""

    values: Mapping[str, Any]
    """All values, as in `biaswatch table --json`."""
    verdict: str
    sentence: str

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def odds_ratio(self) -> float | None:
        """The odds ratio; None if undefined, with the reason in `values`."""
        return self._estimate("odds_ratio")

    @property
    def relative_risk(self) -> float | None:
        """The relative risk."""
        return self._estimate("relative_risk")

    @property
    def risk_difference(self) -> float | None:
        """The first rate minus the second."""
        return self._estimate("risk_difference")

    @property
    def p_value(self) -> float | None:
        """P-value of the test that is declared before the counts are seen."""
        p_value = self.values["declared"]["p_value"]
        return None if p_value is None else float(p_value)

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<TableFindings: {self.sentence}>"

    def _repr_html_(self) -> str:
        rows = [
            {"measure": name.replace("_", " "), **_shown(self.values[name])} for name in MEASURES
        ]
        return html_of([self.sentence], {"Measures": rows})

    def _estimate(self, name: str) -> float | None:
        estimate = self.values[name]["estimate"]
        return None if estimate is None else float(estimate)


def _shown(measure: Mapping[str, Any]) -> dict[str, Any]:
    low, high = measure["ci"] or (None, None)
    return {"estimate": measure["estimate"], "low": low, "high": high, "reason": measure["reason"]}


def table(
    a: int,
    b: int,
    c: int,
    d: int,
    *,
    groups: tuple[str, str] = ("group 1", "group 2"),
    alpha: float = 0.05,
) -> TableFindings:
    """Analyse a 2x2 table: a and b with and without the outcome, c and d of the other group.

    Raises
    ------
    UsageError
        A count is negative, or the table is empty.
    """
    try:
        values = as_json(two_by_two(a, b, c, d, alpha=alpha))
    except ValueError as error:
        raise UsageError(str(error)) from None
    verdict, sentence = conclusion_of({**values, "groups": groups}, alpha)
    return TableFindings(values, verdict, sentence)


Measurer = str | FunctionExtractor | Judge
"""The name of an extractor, or a metric or judge of your own."""


def metric(function: Callable[[str], float | None]) -> FunctionExtractor:
    """Make a metric for `bw.measure` of a function from a text to a number; use as a decorator.

    Its column is `NAME.value`. None, and a text at which the function fails, count as missing;
    `NAME.missing` then has the error.

    Examples
    --------
    >>> import biaswatch as bw
    >>> @bw.metric
    ... def exclamations(text: str) -> float:
    ...     return text.count("!")
    >>> bw.measure(["Sure!!", "No."], exclamations)["exclamations.value"].tolist()
    [2.0, 0.0]
    """

    def values(text: str) -> Mapping[str, float | None]:
        try:
            value = function(text)
            return {"value": None if value is None else float(value)}
        except Exception as error:
            why = f"the extractor failed: {type(error).__name__}: {error}"
            raise Unscorable(why.removesuffix(": ")) from error

    about = (function.__doc__ or "").strip().partition("\n")[0]
    return FunctionExtractor(function.__name__, "1", ("value",), about, values)


def measure(
    texts: Iterable[str | None],
    extractors: Measurer | Iterable[Measurer],
    *,
    backend: ModuleType | str = pd,
) -> Any:
    """Measure texts; return a frame with a row per text and a column per feature.

    `extractor.missing` is the reason why a text has no values. Only judges (`bw.judge`) send texts
    to a model. `backend` is `pandas`, `polars` or `pyarrow`.

    Raises
    ------
    UsageError
        An extractor is unknown, or needs a library that is not installed; or `texts` is a frame.
    """
    if nw.dependencies.is_into_dataframe(texts):
        raise UsageError("Pass the texts, such as frame['text'], not the whole table.")
    all_texts = list(texts)
    wanted = [extractors] if isinstance(extractors, Measurer) else list(extractors)
    judges = {item.name: item for item in wanted if isinstance(item, Judge)}
    others = [item for item in wanted if not isinstance(item, Judge)]
    measurer = TextMeasurer({}) if judges and not others else TextMeasurer.of(others)
    measured = measurer.measure(all_texts)
    measured |= {name: item.measured(all_texts) for name, item in judges.items()}
    features = {name: tuple(own.features) for name, own in measurer.extractors.items()}
    features |= {name: own.features for name, own in judges.items()}
    rows: list[dict[str, Any]] = []
    for number, text in enumerate(all_texts):
        row: dict[str, Any] = {"text": text}
        for name, own in features.items():
            values, missing = measured[name][number]
            row |= {f"{name}.{feature}": values.get(feature) for feature in own}
            row[f"{name}.missing"] = missing
        rows.append(row)
    return native_frame(rows, backend)
