"""A large batch of production answers: checked as it comes, on disk until it is sent on."""

import struct
from collections.abc import Iterator
from typing import Any, Self

from fastapi import HTTPException
from pydantic import ValidationError

from biaswatch.services.gateway.body_files import BodyFile
from biaswatch.services.gateway.streamed_lists import StreamedList, wrong
from biaswatch.services.gateway.strict_requests import check_value
from biaswatch.shared.requests.traffic import MAX_BATCH, BatchHeader, SentBatch, SentResponse

RESPONSES = "responses"
TOO_MANY = f"One request brings at most {MAX_BATCH:,} answers. Send them in parts."
LENGTH = struct.Struct("<I")
"""The length of an answer, before it in the file."""


class LargeBatch:
    """The answers of one batch; it reads and writes a file, so it runs in a thread."""

    def __init__(self) -> None:
        self._list = StreamedList(RESPONSES)
        self._file = BodyFile()
        self._amount = 0

    def __enter__(self) -> Self:
        """Return the batch; the end of the context forgets it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Forget the answers."""
        self._file.close()

    def take(self, data: bytes, *, last: bool) -> None:
        """Check the answers that end in these bytes, and keep them.

        Raises
        ------
        RequestValidationError, HTTPException, UsageError
            The body is not JSON, one answer is wrong, or there are too many.
        TransientError
            The disk budget is used up.
        """
        for item in self._list.items(data, last=last):
            if self._amount == MAX_BATCH:
                raise HTTPException(422, TOO_MANY)
            answer = self._checked(item).model_dump_json(exclude_defaults=True).encode()
            self._file.write(LENGTH.pack(len(answer)) + answer)
            self._amount += 1

    def _checked(self, item: Any) -> SentResponse:
        check_value(item, f"{RESPONSES}.{self._amount}")
        try:
            return SentResponse.model_validate(item)
        except ValidationError as error:
            raise wrong(error, (RESPONSES, self._amount)) from None

    def header(self) -> BatchHeader:
        """Return what holds for all answers; raise RequestValidationError where it is wrong."""
        fields = self._list.fields
        check_value(fields, "")
        try:
            if not self._amount or RESPONSES in fields:  # it has none, or what is no list
                SentBatch.model_validate(
                    {RESPONSES: [], **fields} if self._list.has_list else fields
                )
            return BatchHeader.model_validate(fields)
        except ValidationError as error:
            raise wrong(error, ()) from None

    def answers(self) -> Iterator[SentResponse]:
        """Yield the answers in their order."""
        at = 0
        while at < self._file.size:
            (size,) = LENGTH.unpack(self._file.read_at(at, LENGTH.size))
            at += LENGTH.size
            yield SentResponse.model_validate_json(self._file.read_at(at, size))
            at += size
