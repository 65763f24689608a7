"""A model server on loopback: any ASGI application, over real HTTP, on a free port."""

import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import uvicorn

from tests.support.waiting import PATIENCE_S

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]
Reply = Callable[[Any], tuple[int, object]]
"""What is said to a body of JSON: a status, and another body of JSON."""


class _Server(uvicorn.Server):
    """Says when it is ready, so that nobody has to poll."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


def replying(reply: Reply) -> App:
    """Make an ASGI application of a function that says what is answered to what is asked."""

    async def app(
        _: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part["body"], part.get("more_body", False)
        status, answer = reply(json.loads(body))
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    return app


@contextmanager
def model_server(app: Any) -> Iterator[str]:
    """Serve an ASGI application from a thread while the context lasts; gives its base URL."""
    # The event loop belongs to the thread alone, so that tests may use their own.
    config = uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1)
    server = _Server(config)
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            if not server.ready.wait(PATIENCE_S):
                raise RuntimeError(f"The model server did not start within {PATIENCE_S} s.")
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
    if thread.is_alive():
        raise RuntimeError(f"The model server did not stop within {PATIENCE_S} s.")
