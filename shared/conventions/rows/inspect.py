"""Logs of Inspect: samples, also all in one JSON file."""

from collections.abc import Iterable

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import messages_of
from biaswatch.shared.conventions.rows.form import RowFormat, as_object, objects_in, reply_content
from biaswatch.shared.conventions.signals import Fields


def _content(sample: Fields) -> RecordedContent:
    output = as_object(sample.get("output"))
    error = sample.get("error") or output.get("error")
    return reply_content(output, error, messages_of(sample.get("input")))


def _samples(row: Fields) -> Iterable[Fields]:
    """Yield samples; several epochs of a sample are answers about the same unit."""
    samples = objects_in(row["samples"]) if "samples" in row else [row]
    created = as_object(row.get("eval")).get("created")
    for sample in samples:
        answer = f"{sample.get('id')} epoch {sample.get('epoch', 1)}"
        yield {"created": created, **sample, "answer": answer}


FORMAT = RowFormat(
    lambda row: {"eval", "samples"} <= row.keys() or {"epoch", "input", "output"} <= row.keys(),
    _content,
    FieldMapping(id=("answer",), time=("completed_at", "started_at", "created"), unit=("id",)),
    _samples,
)
