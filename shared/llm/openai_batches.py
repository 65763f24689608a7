"""Batches of OpenAI: a file of requests, and a batch that names the file."""

import json
from collections.abc import Set
from contextlib import suppress
from typing import IO, Any

from biaswatch.shared.llm.batches import (
    TRANSFER_S,
    BatchApi,
    BatchStatus,
    ChatFormat,
    InterruptedBatch,
    Lines,
    Outcome,
    id_of,
    time_of,
    unasked,
)
from biaswatch.shared.llm.port import CallFailed, Failure
from biaswatch.shared.llm.provider_errors import failure_in_reply, failure_of_status
from biaswatch.shared.llm.replies import at, count_of, shortened

OUR_ID = "biaswatch_batch"
"""The field of a batch's metadata with our id; it identifies an interrupted submission."""
FILE_S = 30 * 24 * 3600
"""Time after which the provider deletes the requests."""
TOO_MUCH_QUEUED = "token_limit_exceeded"
ENDED = frozenset({"completed", "expired", "cancelled"})
UNASKED = {"batch_expired": "expired", "batch_cancelled": "cancelled"}


class OpenAIBatches(BatchApi):
    """Batches of Chat Completions or of Responses.

    A batch carries our id as metadata. Deleting its file keeps a late `create` from making one.
    """

    def __init__(self, chat: ChatFormat, key: str | None, path: str) -> None:
        super().__init__(chat)
        self._key = key
        self._path = path

    async def upload(self, lines: Lines) -> str | None:
        """See `BatchApi.upload`."""
        rows = [
            json.dumps({"custom_id": id_, "method": "POST", "url": self._path, "body": dict(body)})
            for id_, body in lines.items()
        ]
        return id_of(
            await self._json(
                "files.with_raw_response.create",
                TRANSFER_S,
                file=("biaswatch.jsonl", "\n".join(rows).encode()),
                purpose="batch",
                expires_after={"anchor": "created_at", "seconds": FILE_S},
            )
        )

    async def create(self, batch_id: str, lines: Lines, file_id: str | None) -> BatchStatus:
        """See `BatchApi.create`."""
        return _status(
            await self._json(
                "batches.with_raw_response.create",
                completion_window="24h",
                endpoint=self._path,
                input_file_id=file_id,
                metadata={OUR_ID: batch_id},
            )
        )

    async def find(self, sent: InterruptedBatch, known: Set[str]) -> BatchStatus | None:
        """See `BatchApi.find`; the metadata always decide."""
        async for batch in self._since("batches.with_raw_response.list", "after", sent.since):
            if at(batch, "metadata", OUR_ID) == sent.id and at(batch, "id") not in known:
                return _status(batch)
        return None

    async def prevent(self, file_id: str | None) -> None:
        """See `BatchApi.prevent`."""
        if file_id is None:
            return
        with suppress(CallFailed):  # it is gone already
            await self._json("files.with_raw_response.delete", file_id=file_id)

    async def status(self, id_: str) -> BatchStatus:
        """See `BatchApi.status`."""
        return _status(await self._json("batches.with_raw_response.retrieve", batch_id=id_))

    async def cancel(self, id_: str) -> None:
        """See `BatchApi.cancel`."""
        await self._json("batches.with_raw_response.cancel", batch_id=id_)

    async def results(self, id_: str, file: IO[bytes]) -> None:
        """See `BatchApi.results`; answers and errors are in two files, each of them optional."""
        batch = await self._json("batches.with_raw_response.retrieve", batch_id=id_)
        for name in ("output_file_id", "error_file_id"):
            if result := at(batch, name):
                await self._append(f"/files/{id_of({'id': result})}/content", file)

    def outcome(self, line: Any) -> Outcome:
        """See `BatchApi.outcome`."""
        if reason := UNASKED.get(str(at(line, "error", "code"))):
            raise unasked(reason)
        status, body = at(line, "response", "status_code"), at(line, "response", "body")
        if status == 200:
            return self._chat.answer_in(body)
        if isinstance(status, int):
            document = json.dumps(body).encode()
            raise failure_of_status(
                "The provider", status, {}, document, key=self._key, key_source="the key"
            )
        failure = failure_in_reply(line, key=self._key, tokens=(None, None))
        raise failure or CallFailed(Failure.GARBAGE, "The result has no answer and no error.")


def _status(batch: Any) -> BatchStatus:
    status = at(batch, "status")
    counts = [count_of(at(batch, "request_counts", n)) or 0 for n in ("completed", "failed")]
    return BatchStatus(
        id_of(batch),
        sum(counts),
        time_of(at(batch, "expires_at")),
        ending=status in {"cancelling", "finalizing"},
        ended=status in ENDED,
        cut_short=status == "cancelled",
        rejected=_rejection(batch) if status == "failed" else None,
    )


def _rejection(batch: Any) -> CallFailed:
    error = at(batch, "errors", "data", 0)
    words = shortened(str(at(error, "message") or "no reason"), 500)
    detail = f'The provider rejected the batch: "{words}".'
    queued = at(error, "code") == TOO_MUCH_QUEUED
    return CallFailed(Failure.RATE_LIMITED if queued else Failure.BAD_REQUEST, detail)
