"""The gateway's HTTP face; errors are the same sentences the command line prints."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Header, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, SecretStr

from services.gateway.domain import Progress, RunRequest
from services.gateway.handlers import Desk, NotThereError
from shared.contracts import Diagnosis, Run, Suite
from shared.errors import TransientError
from shared.runtime.threads import in_thread

StartRun = Callable[[Run], Awaitable[None]]


class Kept(BaseModel):
    """Where a suite is kept."""

    hash: str


class Tokens:
    """Who may do what: nobody needs a token where none is set."""

    def __init__(self, read: SecretStr | None, run: SecretStr | None) -> None:
        self._read = [token.get_secret_value() for token in (read, run) if token]
        self._run = [run.get_secret_value()] if run else []

    def may_read(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse who shows no token that may read."""
        self._check(self._read, authorization)

    def may_run(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse who shows no token that may start runs, where any token is set."""
        if self._read and not self._run:
            raise HTTPException(403, "This gateway starts no runs: it has no run token.")
        self._check(self._run, authorization)

    def _check(self, accepted: list[str], authorization: str | None) -> None:
        shown = (authorization or "").removeprefix("Bearer ").encode()
        if accepted and not any(secrets.compare_digest(shown, t.encode()) for t in accepted):
            raise HTTPException(
                401, "The gateway refuses the token. Set BIASWATCH_TOKEN to one it knows."
            )


def routes(desk: Desk, start: StartRun, tokens: Tokens) -> APIRouter:
    """Give the routes of the API."""
    read, run = [Depends(tokens.may_read)], [Depends(tokens.may_run)]
    router = APIRouter(prefix="/v1")

    @router.post("/suites", dependencies=run)
    async def keep_suite(suite: Suite) -> Kept:
        return Kept(hash=await in_thread(desk.keep, suite))

    @router.post("/runs", dependencies=run, status_code=201)
    async def start_run(asked: RunRequest) -> Run:
        wanted = await in_thread(desk.run_for, asked)
        if await in_thread(desk.must_start, wanted):
            await start(wanted)
        return wanted

    @router.get("/runs", dependencies=read)
    async def list_runs() -> list[Progress]:
        return await in_thread(desk.runs)

    @router.get("/runs/{run_id}", dependencies=read)
    async def show_run(run_id: str) -> Progress:
        return await in_thread(desk.progress, run_id)

    @router.get("/runs/{run_id}/diagnoses", dependencies=read)
    async def show_diagnoses(run_id: str) -> list[Diagnosis]:
        return await in_thread(desk.diagnoses, run_id)

    return router


async def as_sentence(_: Request, error: Exception) -> JSONResponse:
    """Answer an error of ours with its sentence."""
    status = 404 if isinstance(error, NotThereError) else 422
    return JSONResponse(
        {"detail": str(error)}, status_code=503 if isinstance(error, TransientError) else status
    )
