"""An imitation of the batch APIs of OpenAI and Anthropic over real HTTP, with odd behaviour."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

Body = dict[str, Any]
UNASKED = ("expired", "cancelled")
Line = Body | str | None
"""The outcome of a call: a line of results, an answer, `expired`, or None for no line."""


def text_of(body: Body) -> str:
    """The answer to a question, which hangs on the question alone."""
    question = json.dumps(body["messages" if "messages" in body else "input"], sort_keys=True)
    rating = 1 + sum(question.encode()) % 4
    return json.dumps({"reasoning": "so", "rating": rating})


@dataclass
class Kept:
    """One batch of the provider."""

    id: str
    created: datetime
    requests: dict[str, Body]
    metadata: Body
    file: str = ""
    status: str = "in_progress"
    looks: int = 0
    answers: dict[str, Line] = field(default_factory=dict)


class BatchServer:
    """Keeps files and batches; a batch ends at the second look at it."""

    def __init__(self, *, looks: int = 1) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Kept] = {}
        self.executed: Counter[str] = Counter()
        self.line: Callable[[str, Body], Line] = lambda _, body: text_of(body)
        self.faults: dict[str, list[int]] = {}
        """Statuses that the next requests of a kind get, such as `create`."""
        self.lost_replies: set[str] = set()
        """Kinds of requests that are carried out once and answered with 500."""
        self.looks = looks
        self.seen: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part["body"], part.get("more_body", False)
        kind = self._kind(scope["method"], scope["path"])
        self.seen.append(kind)
        if self.faults.get(kind):
            status, answer = self.faults[kind].pop(0), b'{"error": {"message": "a fault"}}'
        else:
            status, answer = self._answer(kind, scope, body)
            if kind in self.lost_replies:
                self.lost_replies.remove(kind)
                status, answer = 500, b"{}"
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    @staticmethod
    def _kind(method: str, path: str) -> str:
        if "/files" in path:
            if method == "DELETE":
                return "delete"
            return "upload" if method == "POST" else "content"
        if path.endswith("/results"):
            return "content"
        if path.endswith("/cancel"):
            return "cancel"
        if method == "POST":
            return "create"
        return "list" if path.endswith("/batches") else "status"

    def _answer(self, kind: str, scope: Any, body: bytes) -> tuple[int, bytes]:
        path: str = scope["path"]
        is_openai = "/messages/" not in path
        id_ = path.rstrip("/").removesuffix("/content").removesuffix("/results")
        id_ = id_.removesuffix("/cancel").rpartition("/")[2]
        if kind == "upload":
            [lines] = re.findall(rb"\r\n\r\n(\{.*?)\r\n--", body, re.DOTALL)
            self.files[file := f"file-{len(self.files)}"] = lines
            return 200, json.dumps({"id": file, "object": "file"}).encode()
        if kind == "delete":
            return (200, b"{}") if self.files.pop(id_, None) else (404, b"{}")
        if kind == "create":
            return self._create(json.loads(body))
        if kind == "list":
            return 200, self._page(parse_qs(scope["query_string"].decode()), is_openai)
        if kind == "content":
            return 200, b"\n".join(self._lines(id_))
        return self._batch(kind, self.batches[id_], is_openai=is_openai)

    def _batch(self, kind: str, batch: Kept, *, is_openai: bool) -> tuple[int, bytes]:
        if kind == "cancel":
            batch.status, batch.looks = "cancelling", self.looks
            batch.answers = dict.fromkeys(batch.requests, "cancelled")
        elif kind == "status":
            self._look(batch)
        shown = self._openai(batch) if is_openai else self._anthropic(batch)
        return 200, json.dumps(shown).encode()

    def _create(self, body: Body) -> tuple[int, bytes]:
        now = datetime.now(UTC)
        id_ = f"batch-{len(self.batches)}"
        if "requests" in body:
            requests = {r["custom_id"]: r["params"] for r in body["requests"]}
            self.batches[id_] = Kept(id_, now, requests, {})
            return 200, json.dumps(self._anthropic(self.batches[id_])).encode()
        if body["input_file_id"] not in self.files:
            return 400, b'{"error": {"message": "There is no such file."}}'
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert {line["url"] for line in lines} == {body["endpoint"]}
        requests = {line["custom_id"]: line["body"] for line in lines}
        self.batches[id_] = Kept(id_, now, requests, body["metadata"], body["input_file_id"])
        return 200, json.dumps(self._openai(self.batches[id_])).encode()

    def _look(self, batch: Kept) -> None:
        batch.looks += 1
        if batch.looks <= self.looks or batch.status not in {"in_progress", "cancelling"}:
            return
        if batch.status == "cancelling":
            batch.status = "cancelled"
            return
        batch.answers = {id_: self.line(id_, body) for id_, body in batch.requests.items()}
        self.executed.update(id_ for id_, line in batch.answers.items() if line != "expired")
        expired = "expired" in batch.answers.values()
        batch.status = "expired" if expired else "completed"

    def _lines(self, id_: str) -> Iterator[bytes]:
        """The results, in the reverse order of the requests."""
        is_openai = id_.startswith(("out-", "err-"))
        batch = self.batches[id_.removeprefix("out-").removeprefix("err-")]
        for custom_id, line in reversed(batch.answers.items()):
            unasked = line in UNASKED
            if line is None or (is_openai and unasked != id_.startswith("err-")):
                continue
            result = line if isinstance(line, dict) else self._result(batch, custom_id, line)
            yield json.dumps({"custom_id": custom_id, **result}).encode()

    def _result(self, batch: Kept, custom_id: str, line: str) -> Body:
        body = batch.requests[custom_id]
        if batch.metadata:
            if line in UNASKED:
                return {"response": None, "error": {"code": f"batch_{line}", "message": "late"}}
            return {"response": {"status_code": 200, "body": openai_answer(body, line)}}
        if line in UNASKED:
            return {"result": {"type": line.replace("cancelled", "canceled")}}
        return {"result": {"type": "succeeded", "message": anthropic_answer(line)}}

    def _page(self, query: dict[str, list[str]], is_openai: bool) -> bytes:
        for batch in self.batches.values():
            self._look(batch)
        batches = list(reversed(self.batches.values()))
        shown = [self._openai(b) if is_openai else self._anthropic(b) for b in batches]
        after = (query.get("after") or query.get("after_id") or [""])[0]
        start = next((n + 1 for n, b in enumerate(shown) if b["id"] == after), 0)
        page = shown[start : start + 5]
        return json.dumps({"data": page, "has_more": start + 5 < len(shown)}).encode()

    def _openai(self, batch: Kept) -> Body:
        ended = batch.status in {"completed", "expired", "cancelled"}
        unasked = any(answer in UNASKED for answer in batch.answers.values())
        return {
            "id": batch.id, "object": "batch", "status": batch.status,
            "created_at": int(batch.created.timestamp()), "metadata": batch.metadata,
            "expires_at": int((batch.created + timedelta(days=1)).timestamp()),
            "request_counts": {"total": len(batch.requests), "completed": 0, "failed": 0},
            "errors": {"data": [{"code": batch.file, "message": batch.file}]},
            "output_file_id": f"out-{batch.id}" if ended else None,
            "error_file_id": f"err-{batch.id}" if ended and unasked else None,
        }  # fmt: skip

    def _anthropic(self, batch: Kept) -> Body:
        ended = batch.status in {"completed", "expired", "cancelled"}
        number = len(batch.requests)
        counts = {"processing": 0 if ended else number, "succeeded": number if ended else 0}
        status = "canceling" if batch.status == "cancelling" else "in_progress"
        return {
            "id": batch.id, "type": "message_batch",
            "processing_status": "ended" if ended else status,
            "created_at": batch.created.isoformat(), "request_counts": counts,
            "expires_at": (batch.created + timedelta(days=1)).isoformat(),
            "results_url": "http://127.0.0.1:1/elsewhere",
        }  # fmt: skip


def openai_answer(body: Body, text: str) -> Body:
    """A reply of Chat Completions or of Responses."""
    if "messages" in body:
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        choices = [{"message": message, "finish_reason": "stop"}]
        return {"choices": choices, "usage": usage, "model": "m-1"}
    parts = [{"type": "output_text", "text": text}]
    output = [{"type": "message", "content": parts}]
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {"output": output, "status": "completed", "usage": usage, "model": "m-1"}


def anthropic_answer(text: str) -> Body:
    """A reply of Messages."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    content = [{"type": "text", "text": text}]
    return {"content": content, "stop_reason": "end_turn", "usage": usage, "model": "m-1"}
