"""Results of promptfoo: one JSON file, or a result a line."""

from collections.abc import Iterable

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import messages_of
from biaswatch.shared.conventions.rows.form import RowFormat, as_object, objects_in, reply_content
from biaswatch.shared.conventions.signals import Fields


def _content(row: Fields) -> RecordedContent:
    response = as_object(row.get("response"))
    error = response.get("error") or (None if "output" in response else row.get("error"))
    prompt = as_object(row.get("prompt")).get("raw", row.get("prompt"))
    return reply_content(response.get("output"), error, messages_of(prompt))


def _results(row: Fields) -> Iterable[Fields]:
    """Yield results; those of several prompts and providers for a test are of one unit."""
    held = row.get("results")
    whole = as_object(held)
    results = objects_in(whole.get("results", held)) if held is not None else [row]
    for result in results:
        provider = as_object(result.get("provider"))
        case = result.get("testIdx")
        answer = result.get("id") or f"{case} {result.get('promptIdx')} {provider.get('id')}"
        yield {
            "timestamp": whole.get("timestamp"), "model": provider.get("id"),
            "unit": case, **result, "answer": answer,
        }  # fmt: skip


FORMAT = RowFormat(
    lambda row: {"vars", "provider"} <= row.keys() or {"results", "config"} <= row.keys()
    or {"evalId", "results"} <= row.keys(),
    _content,
    FieldMapping(id=("answer",), time=("timestamp",), unit=("unit",), model=("model",)),
    _results,
)  # fmt: skip
