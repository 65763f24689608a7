"""A receiver of OTLP's log events on loopback, as a collector is one: over real HTTP."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.model_server import model_server

PROTOBUF = "application/x-protobuf"


class OtlpServer:
    """Keeps the log events and spans that it is sent; answers as it is told."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        """What it answers to the next requests; after them, 200."""
        self.rejects = 0
        """How many events of each request it says it has rejected."""
        self.headers: list[dict[str, str]] = []
        self.events: list[Any] = []
        self.spans: list[tuple[str, Any]] = []
        """The name of the service, and the span."""
        self.requests = 0
        self.url = ""
        self.app = FastAPI()
        self.app.post("/v1/logs")(self._take_logs)
        self.app.post("/v1/traces")(self._take_spans)

    async def _take_logs(self, request: Request) -> Response:
        status = await self._asked(request)
        if status != 200:
            return Response(status_code=status)
        for log in ExportLogsServiceRequest.FromString(await _body(request)).resource_logs:
            for scope in log.scope_logs:
                self.events += scope.log_records
        reply = ExportLogsServiceResponse()
        reply.partial_success.rejected_log_records = self.rejects
        return Response(reply.SerializeToString(), media_type=PROTOBUF)

    async def _take_spans(self, request: Request) -> Response:
        status = await self._asked(request)
        if status != 200:
            return Response(status_code=status)
        for item in ExportTraceServiceRequest.FromString(await _body(request)).resource_spans:
            named = {pair.key: pair.value.string_value for pair in item.resource.attributes}
            for scope in item.scope_spans:
                self.spans += [(named["service.name"], span) for span in scope.spans]
        return Response(b"", media_type=PROTOBUF)

    async def _asked(self, request: Request) -> int:
        self.requests += 1
        self.headers.append(dict(request.headers))
        return self.statuses.pop(0) if self.statuses else 200


async def _body(request: Request) -> bytes:
    body = await request.body()
    packed = request.headers.get("content-encoding") == "gzip"
    return gzip.decompress(body) if packed else body


@contextmanager
def otlp_server() -> Iterator[OtlpServer]:
    """Run a receiver while the context lasts."""
    result = OtlpServer()
    with model_server(result.app) as base:
        result.url = base.removesuffix("/v1")
        yield result
