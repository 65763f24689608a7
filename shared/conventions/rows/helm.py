"""Scenario states of HELM: `scenario_state.json` of a run."""

from collections.abc import Iterable

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import messages_of
from biaswatch.shared.conventions.rows.form import RowFormat, as_object, objects_in, reply_content
from biaswatch.shared.conventions.signals import Fields


def _content(state: Fields) -> RecordedContent:
    request, result = as_object(state.get("request")), as_object(state.get("result"))
    completions = objects_in(result.get("completions"))
    error = (result.get("error") or "error") if result.get("success") is False else None
    prompt = request.get("messages") or request.get("prompt")
    return reply_content(completions[0] if completions else None, error, messages_of(prompt))


def _states(row: Fields) -> Iterable[Fields]:
    """Yield the states of requests; perturbed instances are of the same unit."""
    for state in objects_in(row["request_states"]) if "request_states" in row else [row]:
        instance = as_object(state.get("instance"))
        perturbed = as_object(instance.get("perturbation")).get("name", "")
        numbers = f"{instance.get('id')} {perturbed} {state.get('train_trial_index', 0)}"
        yield {**state, "answer": " ".join(numbers.split())}


FORMAT = RowFormat(
    lambda row: "request_states" in row or {"instance", "request", "result"} <= row.keys(),
    _content,
    FieldMapping(
        id=("answer",), unit=("instance.id",), time=("result.request_datetime",),
        model=("request.model", "request.model_deployment"),
    ),
    _states,
)  # fmt: skip
