"""`bw.measure`: texts measured by extractors, as a frame."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pandas as pd

from biaswatch.api.native_frames import native_frame
from biaswatch.measuring import TextMeasurer


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
