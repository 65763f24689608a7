"""A drop-in extractor whose every answer a test can spoil."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import nats.micro

from biaswatch.shared.bus.jetstream import Connection


@dataclass
class Toy:
    """Counts letters, unless told otherwise."""

    name: str = "toy"
    version: str = "1.0.0"
    spec: dict[str, Any] = field(default_factory=dict)
    says: Callable[[str], Any] = lambda text: {"values": {"letters": len(text)}}
    answers_as: str | None = None
    calls: list[list[str]] = field(default_factory=list)
    code: str = ""
    service: Any = None

    async def serve(self, connection: Connection) -> None:
        """Register it on a bus."""
        self.service = await nats.micro.add_service(
            connection.client,
            name=f"extractor-{self.name}",
            version=self.version,
            metadata={"role": "extractor", "contract": "1", "code": self.code},
        )
        for what in ("spec", "check", "extract"):
            await self.service.add_endpoint(
                name=what, subject=f"ext.v1.{self.name}.{what}", handler=getattr(self, f"_{what}")
            )

    async def _spec(self, request: Any) -> None:
        spec = {
            "contract": "1",
            "name": self.name,
            "version": self.version,
            "features": ["letters"],
            "instrument": "a toy",
            **self.spec,
        }
        await request.respond(json.dumps(spec).encode())

    async def _check(self, request: Any) -> None:
        await request.respond(b'{"status": "ok"}')

    async def _extract(self, request: Any) -> None:
        texts = json.loads(request.data)["texts"]
        self.calls.append([text["text"] for text in texts])
        results = []
        for text in texts:
            result = self.says(text["text"])
            if isinstance(result, bytes | None):
                if result is not None:
                    await request.respond(result)
                return
            results.append({"id": text["id"], **result})
        answer = {"version": self.answers_as or self.version, "results": results}
        await request.respond(json.dumps(answer).encode())
