"""Calls of providers in logs, and the output of their batches."""

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import prompt_in
from biaswatch.shared.conventions.rows.form import RowFormat, as_object, reply_content, with_opened
from biaswatch.shared.conventions.signals import Fields


def _logged_call(row: Fields) -> RecordedContent | None:
    row = with_opened(row, "request", "response", "error")
    request, response = row.get("request"), row.get("response")
    if not request and not response:
        return None
    error = as_object(response).get("error") or row.get("error")
    return reply_content(response, error, prompt_in(request))


def _openai_batch(row: Fields) -> RecordedContent | None:
    row = with_opened(row, "response", "error")
    body = as_object(row.get("response")).get("body")
    error = row.get("error") or as_object(body).get("error")
    return reply_content(body, error) if "custom_id" in row else None


def _anthropic_batch(row: Fields) -> RecordedContent | None:
    result = as_object(with_opened(row, "result").get("result"))
    failed = result.get("type") != "succeeded"
    error = result.get("error") or result.get("type") if failed else None
    return reply_content(result.get("message"), error) if "custom_id" in row else None


CALL = RowFormat(
    lambda row: {"request", "response"} <= row.keys(),
    _logged_call,
    FieldMapping(
        id=("id", "request_id", "response.id"),
        time=("at", "timestamp", "created_at", "response.created", "response.created_at"),
        unit=("user", "request.user", "request.safety_identifier", "request.metadata.user_id"),
    ),
)
OPENAI_BATCH = RowFormat(
    lambda row: {"custom_id", "response"} <= row.keys(),
    _openai_batch,
    FieldMapping(
        id=("custom_id",),
        time=("response.body.created", "response.body.created_at"),
        unit=("user",),
    ),
)
ANTHROPIC_BATCH = RowFormat(
    lambda row: {"custom_id", "result"} <= row.keys(),
    _anthropic_batch,
    FieldMapping(id=("custom_id",), unit=("user",)),
)
