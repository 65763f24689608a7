"""Receivers of alarms on loopback, over the real protocols: HTTP and SMTP."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from fastapi import FastAPI, Request, Response

from tests.support.model_server import model_server


class HttpReceiver:
    """An HTTP server that keeps what was posted, wherever it was posted."""

    def __init__(self) -> None:
        self.status = 200
        self.reply_headers = {"Location": "http://127.0.0.1:1/"}
        self.posted: list[tuple[str, dict[str, str], bytes]] = []
        """Path, headers and body of every request."""
        self.url = ""
        self.app = FastAPI()

        @self.app.post("/{path:path}")
        async def take(path: str, request: Request) -> Response:
            self.posted.append((f"/{path}", dict(request.headers), await request.body()))
            return Response(status_code=self.status, headers=self.reply_headers)

    @property
    def address(self) -> str:
        """Host and port."""
        return self.url.removeprefix("http://")


@contextmanager
def http_receiver() -> Iterator[HttpReceiver]:
    """Run an HTTP receiver while the context lasts."""
    receiver = HttpReceiver()
    with model_server(receiver.app) as base:
        receiver.url = base.removesuffix("/v1")
        yield receiver


class MailReceiver:
    """A mail server that keeps what it was sent."""

    def __init__(self) -> None:
        self.reply = "250 OK"
        self.mails: list[Envelope] = []
        self.port = 0

    async def handle_DATA(  # noqa: N802 - the name that aiosmtpd calls
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        """Take a mail, or refuse it."""
        if self.reply.startswith("250"):
            self.mails.append(envelope)
        return self.reply


@contextmanager
def mail_receiver() -> Iterator[MailReceiver]:
    """Run a mail server while the context lasts."""
    receiver = MailReceiver()
    with socket.create_server(("127.0.0.1", 0)) as free:
        receiver.port = free.getsockname()[1]
    controller: Any = Controller(receiver, hostname="127.0.0.1", port=receiver.port)
    controller.start()
    try:
        yield receiver
    finally:
        controller.stop()
