"""Langfuse: spans of its SDK, and the observations that it exports as JSONL or CSV."""

from collections.abc import Mapping
from typing import Any

from biaswatch.shared.conventions.messages import first_label, messages_of, parsed, text_of
from biaswatch.shared.conventions.recorded import RecordedContent, ending_of
from biaswatch.shared.conventions.signals import Fields, Signal

GENERATION = "generation"


def read(signal: Signal) -> RecordedContent | None:
    """Return what a span of a generation tells."""
    fields = signal.attributes
    if not signal.is_span or fields.get("langfuse.observation.type") != GENERATION:
        return None
    failed = fields.get("langfuse.observation.level") == "ERROR"
    return _content(
        fields.get("langfuse.observation.input"),
        fields.get("langfuse.observation.output"),
        first_label(fields, "langfuse.observation.model.name", "gen_ai.request.model"),
        signal.error or ("error" if failed else None),
    )


def read_observation(row: Fields) -> RecordedContent | None:
    """Return what an exported observation tells; None for one that is no generation."""
    if str(row.get("type", "")).lower() != GENERATION:
        return None
    failed = row.get("level") == "ERROR"
    model = first_label(row, "model", "providedModelName", "modelName")
    return _content(row.get("input"), row.get("output"), model, "error" if failed else None)


def unquoted(fields: Fields) -> dict[str, Any]:
    """Return attributes with metadata as it was before the SDK wrote it as JSON."""
    return {
        name: parsed(value) if ".metadata." in name and name.startswith("langfuse.") else value
        for name, value in fields.items()
    }


def _content(
    asked: Any, output: Any, model: str | None, error: str | None
) -> RecordedContent | None:
    said = parsed(output)
    if isinstance(said, list):
        said = said[-1] if said else None
    if isinstance(said, Mapping) and "choices" in said:
        choices = said["choices"]
        said = choices[0].get("message") if choices else None
    return RecordedContent(
        asked=messages_of(asked), **ending_of(text_of(said), None, error), model=model
    )
