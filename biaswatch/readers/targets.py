"""Targets on the command line: what the file of an `http:` target says is written into it."""

from pathlib import Path

from shared.contracts import Target, parse_target
from shared.contracts.providers import PROVIDERS
from shared.contracts.providers.http import Application
from shared.contracts.target import ROLE
from shared.errors import UsageError
from shared.llm.http_app import read_application


def read_target(written: str) -> Target:
    """Return a target, with what its file says.

    Raises
    ------
    UsageError
        The target or its file is wrong, or the file cannot be read.
    """
    return parse_target(with_file(written))


def with_file(written: str) -> str:
    """Return a target as the gateway takes it, which opens no file."""
    name, _, rest = written.partition(":")
    path, mark, query = rest.partition("?")
    if name not in PROVIDERS or PROVIDERS[name].request_model is not Application or not path:
        return written
    given = {each.partition("=")[0] for each in query.split("&")} - {"", ROLE}
    if given & Application.model_fields.keys():
        return written
    if given:
        raise UsageError(
            f"The target {written!r} takes no parameters; write them into the request of its file."
        )
    return f"{written}{'&' if mark else '?'}{read_application(Path(path)).as_parameters()}"
