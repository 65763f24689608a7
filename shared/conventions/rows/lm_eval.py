"""Samples of lm-evaluation-harness, as `--log_samples` writes them."""

from typing import Any

from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import messages_of
from biaswatch.shared.conventions.outputs import Output
from biaswatch.shared.conventions.rows.form import RowFormat
from biaswatch.shared.conventions.signals import Fields


def _content(row: Fields) -> RecordedContent:
    """Read the response before its filters; of a multiple choice, the likeliest continuation."""
    prompt = _first(row.get("arguments"))
    continuations = _continuations(row.get("arguments"))
    text = _first(row.get("resps")) or _first(row.get("filtered_resps"))
    if continuations:
        text = _likeliest(continuations, row.get("filtered_resps") or row.get("resps"))
    return recorded(
        Output(text if isinstance(text, str) else None),
        None,
        prompt=messages_of(prompt) if isinstance(prompt, str) else (),
    )


def _continuations(arguments: Any) -> list[str]:
    """Return the continuations of requests for log-likelihoods; empty for other requests."""
    requests = list(arguments.values()) if isinstance(arguments, dict) else arguments or []
    pairs = [list(item.values()) if isinstance(item, dict) else item for item in requests]
    texts = [pair[1] for pair in pairs if isinstance(pair, list) and len(pair) == 2]
    return [text for text in texts if isinstance(text, str)]


def _likeliest(continuations: list[str], responses: Any) -> str | None:
    """Return the continuation with the largest log-likelihood; None if there is only one."""
    try:
        likelihoods = [float(_first(response)) for response in responses]
    except (TypeError, ValueError):
        return None
    if not 1 < len(continuations) == len(likelihoods):
        return None
    return continuations[likelihoods.index(max(likelihoods))].strip()


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
