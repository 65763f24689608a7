"""OpenLLMetry (Traceloop) up to 0.50: numbered prompts and completions; later ones use GenAI's."""

from biaswatch.shared.conventions.messages import first_label, messages_of, numbered, text_of
from biaswatch.shared.conventions.recorded import RecordedContent, ending_of
from biaswatch.shared.conventions.signals import Signal

ANSWERING = {"chat", "completion"}


def read(signal: Signal) -> RecordedContent | None:
    """Return what a span of a model's call tells."""
    fields = signal.attributes
    if not signal.is_span or fields.get("llm.request.type") not in ANSWERING:
        return None
    completions = numbered(fields, "gen_ai.completion.")
    first = completions[0] if completions else {}
    return RecordedContent(
        asked=messages_of(numbered(fields, "gen_ai.prompt.")),
        **ending_of(
            text_of(first.get("content")), first_label(first, "finish_reason"), signal.error
        ),
        model=first_label(fields, "gen_ai.response.model", "gen_ai.request.model"),
        fingerprint=first_label(fields, "gen_ai.openai.system_fingerprint"),
        response_id=first_label(fields, "gen_ai.response.id"),
    )
