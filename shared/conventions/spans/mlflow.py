"""MLflow: inputs and outputs of a span as JSON."""

from collections.abc import Mapping

from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.messages import first_label, parsed, prompt_in
from biaswatch.shared.conventions.outputs import output_of
from biaswatch.shared.conventions.signals import Signal

KINDS = {"chat_model", "llm", "agent"}


def read(signal: Signal, *, last: bool) -> RecordedContent | None:
    """Read a span of type CHAT_MODEL, LLM or AGENT."""
    fields = signal.attributes
    kind = str(parsed(fields.get("mlflow.spanType"))).lower()
    if not signal.is_span or kind not in KINDS or "mlflow.spanOutputs" not in fields:
        return None
    outputs = parsed(fields["mlflow.spanOutputs"])
    reply = outputs if isinstance(outputs, Mapping) else {}
    names = ("gen_ai.response.model", "gen_ai.request.model", "mlflow.llm.model")
    return recorded(
        output_of(fields["mlflow.spanOutputs"], last=last),
        signal.error,
        prompt=prompt_in(fields.get("mlflow.spanInputs")),
        model=first_label(reply, "model") or first_label(fields, *names),
        response_id=first_label(reply, "id"),
    )
