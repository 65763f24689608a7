"""Samples of lm-evaluation-harness, as `--log_samples` writes them."""

from typing import Any

from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import messages_of
from biaswatch.shared.conventions.outputs import Output
from biaswatch.shared.conventions.rows.form import RowFormat
from biaswatch.shared.conventions.signals import Fields


def _content(row: Fields) -> RecordedContent:
    """Read the response before its filters; log-likelihoods are no text."""
    text = _first(row.get("resps")) or _first(row.get("filtered_resps"))
    prompt = _first(row.get("arguments"))
    return recorded(
        Output(text if isinstance(text, str) else None),
        None,
        prompt=messages_of(prompt) if isinstance(prompt, str) else (),
    )


def _first(value: Any) -> Any:
    """Return the first value inside nested lists and objects."""
    while isinstance(value, list | dict) and value:
        value = value[0] if isinstance(value, list) else next(iter(value.values()), None)
    return value


FORMAT = RowFormat(
    lambda row: "doc_id" in row and bool(row.keys() & {"resps", "filtered_resps"}),
    _content,
    FieldMapping(id=("doc_id",), unit=("doc_id",)),
)
