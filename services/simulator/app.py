"""The simulator's composition root: settings become a server."""

import asyncio
import socket
import sys
import time
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from pydantic_settings import SettingsError
from starlette.exceptions import HTTPException

from biaswatch.services.simulator.routes.answering import SimulatedModels
from biaswatch.services.simulator.routes.formats import OPENAI_CHAT
from biaswatch.services.simulator.settings import SimulatorSettings
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import ConfigurationError, UsageError

_DRAIN_S = 5


def build(settings: SimulatorSettings, now: Callable[[], float] = time.time) -> FastAPI:
    """Return the application that answers as the settings say."""
    app = FastAPI(title="biaswatch simulator", docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(SimulatedModels(settings, now).router())
    app.add_api_route("/healthz", lambda: {"status": "ok"})
    app.add_exception_handler(HTTPException, _in_their_shape)
    return app


async def serve(settings: SimulatorSettings, announce: Callable[[str], None]) -> None:
    """Serve until stopped; `announce` is told the base URL once the port is taken.

    Raises
    ------
    ConfigurationError
        The address is taken, or is not one of this machine's.
    """
    try:
        # Listening before the server runs: whoever reads the address may connect at once.
        taken = socket.create_server((settings.host, settings.port), backlog=2048)
    except OSError as problem:
        raise ConfigurationError(
            f"The simulator cannot listen on {settings.host}:{settings.port} "
            f"({problem.strerror}). Set BIASWATCH_SIMULATOR_PORT to a free port, or to 0."
        ) from None
    with taken as listener:
        announce(f"http://{settings.host}:{listener.getsockname()[1]}/v1")
        config = uvicorn.Config(
            build(settings), log_level="warning", ws="none", timeout_graceful_shutdown=_DRAIN_S
        )
        await uvicorn.Server(config).serve(sockets=[listener])


async def _in_their_shape(request: Request, problem: Exception) -> JSONResponse:
    """Answer an unknown path or method the way OpenAI does, so that SDKs can read it."""
    status = problem.status_code if isinstance(problem, HTTPException) else 500
    said = f"There is no {request.method} {request.url.path} here."
    return OPENAI_CHAT.error(status, said)


def main() -> int:
    """Run the simulator from the environment's settings."""
    try:
        asyncio.run(serve(read_settings(), _print))
    except (ConfigurationError, UsageError) as problem:
        sys.stderr.write(f"{problem}\n")
        return problem.exit_code
    except KeyboardInterrupt:  # the way a person stops it
        pass
    return 0


def read_settings() -> SimulatorSettings:
    """Read the settings; raise ConfigurationError where one is wrong."""
    try:
        return SimulatorSettings()
    except SettingsError as wrong:  # names the field, and never repeats the value
        raise ConfigurationError(
            f"A variable BIASWATCH_SIMULATOR_... is not JSON: {wrong}."
        ) from None
    except ValidationError as wrong:
        mistake = first_mistake(wrong)
        name, *within = map(str, mistake.loc)
        where = f" (at {'.'.join(within)})" if within else ""
        raise ConfigurationError(
            f"The variable BIASWATCH_SIMULATOR_{name.upper()} is wrong{where}: {mistake.said}."
        ) from None


def _print(url: str) -> None:
    sys.stdout.write(f"The simulator listens on {url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
