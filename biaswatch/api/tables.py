"""`bw.table`: what a 2x2 table of counts says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pandas as pd

from biaswatch.api.frames import html_of, native_frame
from biaswatch.measuring import TextMeasurer
from biaswatch.render.table_rows import conclusion_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two

MEASURES = ("odds_ratio", "relative_risk", "risk_difference", "impact_ratio")


@dataclass(frozen=True)
class TableFindings:
    """Measures and tests of a 2x2 table."""

    found: Mapping[str, Any]
    """Everything, as `biaswatch table --json` has it."""
    verdict: str
    sentence: str

    def __getitem__(self, name: str) -> Any:
        return self.found[name]

    @property
    def odds_ratio(self) -> float | None:
        """The odds ratio; None where it is undefined, with the reason in `found`."""
        return self._estimate("odds_ratio")

    @property
    def relative_risk(self) -> float | None:
        """The relative risk."""
        return self._estimate("relative_risk")

    @property
    def risk_difference(self) -> float | None:
        """The first rate less the second."""
        return self._estimate("risk_difference")

    @property
    def p_value(self) -> float | None:
        """Of the test that is declared before the counts are seen."""
        found = self.found["declared"]["p_value"]
        return None if found is None else float(found)

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        rows = [
            {"measure": name.replace("_", " "), **_shown(self.found[name])} for name in MEASURES
        ]
        return html_of([self.sentence], {"Measures": rows})

    def _estimate(self, name: str) -> float | None:
        found = self.found[name]["estimate"]
        return None if found is None else float(found)


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
    """Return what a 2x2 table says: a and b with and without the outcome, c and d of the others.

    Raises
    ------
    UsageError
        A count is negative, or no table.
    """
    try:
        found = as_json(two_by_two(a, b, c, d, alpha=alpha))
    except ValueError as error:
        raise UsageError(str(error)) from None
    verdict, sentence = conclusion_of({**found, "groups": groups}, alpha)
    return TableFindings(found, verdict, sentence)


def measure(
    texts: Iterable[str | None], extractors: str | Iterable[str], *, backend: ModuleType | str = pd
) -> Any:
    """Return a frame with a row a text, and a column for each feature of each extractor.

    `extractor.missing` says why a text has no values. No model is asked, and no text leaves this
    process. `backend` is `pandas`, `polars` or `pyarrow`.

    Raises
    ------
    UsageError
        An extractor is unknown, or needs a library that is not installed.
    """
    given = list(texts)
    names = [extractors] if isinstance(extractors, str) else list(extractors)
    measurer = TextMeasurer.named(names)
    found = measurer.measure(given)
    rows: list[dict[str, Any]] = []
    for number, text in enumerate(given):
        row: dict[str, Any] = {"text": text}
        for name, extractor in measurer.extractors.items():
            values, missing = found[name][number]
            row |= {f"{name}.{feature}": values.get(feature) for feature in extractor.features}
            row[f"{name}.missing"] = missing
        rows.append(row)
    return native_frame(rows, backend)
