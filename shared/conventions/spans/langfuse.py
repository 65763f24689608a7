"""The SDK of Langfuse: observations as spans."""

from typing import Any

from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.messages import first_label, messages_of, parsed
from biaswatch.shared.conventions.outputs import output_of
from biaswatch.shared.conventions.signals import Fields, Signal

KINDS = {"generation", "agent"}


def read(signal: Signal, *, last: bool) -> RecordedContent | None:
    """Read an observation of type `generation` or `agent`."""
    fields = signal.attributes
    kind = str(fields.get("langfuse.observation.type")).lower()
    if not signal.is_span or kind not in KINDS:
        return None
    failed = fields.get("langfuse.observation.level") == "ERROR"
    return recorded(
        output_of(fields.get("langfuse.observation.output"), last=True),
        signal.error or ("error" if failed else None),
        prompt=messages_of(fields.get("langfuse.observation.input")),
        model=first_label(fields, "langfuse.observation.model.name", "gen_ai.request.model"),
    )


def unquoted(fields: Fields) -> dict[str, Any]:
    """Return attributes with Langfuse's metadata decoded from JSON."""
    return {
        name: parsed(value) if ".metadata." in name and name.startswith("langfuse.") else value
        for name, value in fields.items()
    }
