"""Batches of Anthropic's Messages: one request with all calls."""

import json
import tempfile
from collections.abc import Set
from datetime import datetime
from typing import IO, Any

from biaswatch.shared.llm.batches import (
    CLOCK_SKEW,
    MAX_LINE_BYTES,
    TRANSFER_S,
    BatchApi,
    BatchStatus,
    ChatFormat,
    InterruptedBatch,
    Lines,
    Outcome,
    UndecidedError,
    id_of,
    time_of,
    unasked,
)
from biaswatch.shared.llm.port import CallFailed, Failure
from biaswatch.shared.llm.provider_errors import failure_of_status
from biaswatch.shared.llm.replies import at, count_of

COUNTS = ("succeeded", "errored", "canceled", "expired")
STATUSES = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402,
    "permission_error": 403, "not_found_error": 404, "request_too_large": 413,
    "rate_limit_error": 429, "timeout_error": 408, "api_error": 500, "overloaded_error": 529,
}  # fmt: skip


class AnthropicBatches(BatchApi):
    """Batches of Messages, which carry no metadata: only their results name the calls."""

    def __init__(self, chat: ChatFormat, key: str | None) -> None:
        super().__init__(chat)
        self._key = key

    async def create(self, batch_id: str, lines: Lines, file_id: str | None) -> BatchStatus:
        """See `BatchApi.create`."""
        requests = [{"custom_id": id_, "params": dict(body)} for id_, body in lines.items()]
        method = "messages.batches.with_raw_response.create"
        return _status(await self._json(method, TRANSFER_S, requests=requests))

    async def find(self, sent: InterruptedBatch, known: Set[str]) -> BatchStatus | None:
        """See `BatchApi.find`; a batch of the same time and size is read once it has ended."""
        undecided, method = False, "messages.batches.with_raw_response.list"
        async for batch in self._since(method, "after_id", sent.since):
            if not _may_be(batch, sent.requests, sent.since) or at(batch, "id") in known:
                continue
            status = _status(batch)
            if not status.ended:
                undecided = True
            elif await self._has(status.id, sent.call_ids):
                return status
        if undecided:
            raise UndecidedError
        return None

    async def _has(self, id_: str, ids: Set[str]) -> bool:
        """Tell whether the results of a batch are those of our calls."""
        with tempfile.TemporaryFile() as file:
            await self.results(id_, file)
            file.seek(0)
            try:
                return at(json.loads(file.readline(MAX_LINE_BYTES)), "custom_id") in ids
            except (ValueError, RecursionError):
                return False

    async def status(self, id_: str) -> BatchStatus:
        """See `BatchApi.status`."""
        method = "messages.batches.with_raw_response.retrieve"
        return _status(await self._json(method, message_batch_id=id_))

    async def cancel(self, id_: str) -> None:
        """See `BatchApi.cancel`."""
        await self._json("messages.batches.with_raw_response.cancel", message_batch_id=id_)

    async def results(self, id_: str, file: IO[bytes]) -> None:
        """See `BatchApi.results`; the address that the reply names is not used."""
        await self._append(f"/v1/messages/batches/{id_}/results", file)

    def outcome(self, line: Any) -> Outcome:
        """See `BatchApi.outcome`."""
        result = at(line, "result")
        kind = at(result, "type")
        if kind == "succeeded":
            return self._chat.answer_in(at(result, "message"))
        if kind in {"expired", "canceled"}:
            raise unasked(kind)
        if kind != "errored":
            raise CallFailed(Failure.GARBAGE, "The result has no answer and no error.")
        error = at(result, "error", "error") or at(result, "error")
        status = STATUSES.get(str(at(error, "type")), 500)
        document = json.dumps({"error": error}).encode()
        raise failure_of_status(
            "The provider", status, {}, document, key=self._key, key_source="the key"
        )


def _may_be(batch: Any, requests: int, since: datetime) -> bool:
    created = time_of(at(batch, "created_at"))
    counts = at(batch, "request_counts")
    size = sum(count_of(at(counts, name)) or 0 for name in ("processing", *COUNTS))
    return size == requests and created is not None and created >= since - CLOCK_SKEW


def _status(batch: Any) -> BatchStatus:
    return BatchStatus(
        id_of(batch),
        sum(count_of(at(batch, "request_counts", name)) or 0 for name in COUNTS),
        time_of(at(batch, "expires_at")),
        ending=at(batch, "processing_status") == "canceling",
        ended=at(batch, "processing_status") == "ended",
    )
