"""BBQ from Hugging Face, with the extra `datasets`; the rows are checked like any other."""

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from biaswatch.bbq.rows import ROWS, Row
from shared.contracts.mistakes import first_mistake
from shared.errors import TransientError, UsageError

SPLIT = "test"


def read_hub(name: str, category: str) -> list[Row]:
    """Load one category.

    Raises
    ------
    UsageError
        The extra is not installed, or what is there are no rows of BBQ.
    TransientError
        The hub does not answer, or refuses.
    """
    try:
        datasets: Any = importlib.import_module("datasets")
    except ImportError:
        raise UsageError(
            "Loading from Hugging Face needs the extra `datasets`: install 'biaswatch[datasets]'."
            " `biaswatch suites fetch bbq` needs nothing."
        ) from None
    try:
        items = datasets.load_dataset(name, category, split=SPLIT)
    except Exception as error:  # noqa: BLE001 - the library raises what it likes; all means: no data
        why = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise TransientError(
            f"{name} cannot be loaded ({why}). `biaswatch suites fetch bbq` gets the same questions"
            " from their authors."
        ) from None
    return rows_of(items, name, category)


def rows_of(items: Iterable[Mapping[str, Any]], name: str, category: str) -> list[Row]:
    """Check the items of a category, and their number."""
    rows = []
    for number, item in enumerate(items, start=1):
        try:
            rows.append(Row.model_validate({"category": category, **item}))
        except ValidationError as error:
            said = first_mistake(error).in_words("the whole item")
            raise UsageError(
                f"{name}, {category}, item {number}, {said}."
                " `biaswatch suites fetch bbq` gets the questions in their own form."
            ) from None
    if len(rows) != ROWS[category]:
        raise UsageError(f"{name} holds {len(rows)} rows of {category}, not {ROWS[category]}.")
    return rows
