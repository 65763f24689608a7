"""The simulator as a server."""

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
    """Return the application with the models of the settings."""
    app = FastAPI(title="biaswatch simulator", docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(SimulatedModels(settings, now).router())
    app.add_api_route("/healthz", lambda: {"status": "ok"})
    app.add_exception_handler(HTTPException, _openai_error)
    return app


async def serve(settings: SimulatorSettings, announce: Callable[[str], None]) -> None:
    """Serve until stopped; call `announce` with the base URL once the port is open.

    Raises
    ------
    ConfigurationError
        The address is in use, or does not belong to this machine.
    """
    try:
        # Listens before the server runs, so that clients may connect as soon as the URL is known.
        opened = socket.create_server((settings.host, settings.port), backlog=2048)
    except OSError as error:
        raise ConfigurationError(
            f"The simulator cannot listen on {settings.host}:{settings.port} "
            f"({error.strerror}). Set BIASWATCH_SIMULATOR_PORT to a free port, or to 0."
        ) from None
    with opened as listener:
        announce(f"http://{settings.host}:{listener.getsockname()[1]}/v1")
        config = uvicorn.Config(
            build(settings), log_level="warning", ws="none", timeout_graceful_shutdown=_DRAIN_S
        )
        await uvicorn.Server(config).serve(sockets=[listener])


async def _openai_error(request: Request, problem: Exception) -> JSONResponse:
    """Answer unknown paths and methods in the format of OpenAI, which SDKs can read."""
    status = problem.status_code if isinstance(problem, HTTPException) else 500
    message = f"Unknown endpoint: {request.method} {request.url.path}."
    return OPENAI_CHAT.error(status, message)


def main() -> int:
    """Run the simulator with the settings of the environment."""
    try:
        asyncio.run(serve(read_settings(), _print))
    except (ConfigurationError, UsageError) as problem:
        sys.stderr.write(f"{problem}\n")
        return problem.exit_code
    except KeyboardInterrupt:  # stopped by the user
        pass
    return 0


def read_settings() -> SimulatorSettings:
    """Read the settings; raise ConfigurationError if one is invalid."""
    try:
        return SimulatorSettings()
    except SettingsError as error:  # it names the field and does not repeat the value
        raise ConfigurationError(
            f"A variable BIASWATCH_SIMULATOR_... is not JSON: {error}."
        ) from None
    except ValidationError as error:
        mistake = first_mistake(error)
        name, *within = map(str, mistake.loc)
        where = f" (at {'.'.join(within)})" if within else ""
        raise ConfigurationError(
            f"The variable BIASWATCH_SIMULATOR_{name.upper()} is wrong{where}: {mistake.sentence}."
        ) from None


def _print(url: str) -> None:
    sys.stdout.write(f"The simulator listens on {url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
