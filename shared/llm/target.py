"""Targets as people write them: `provider:model[@base_url][?parameter=value&...]`."""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl

from pydantic import JsonValue

from shared.contracts import Target
from shared.errors import UsageError
from shared.llm.http_app import read_application
from shared.llm.role import system_prompt_of

PROVIDERS = {
    "openai": "openai:gpt-5-mini, or openai:llama3.1@http://localhost:11434/v1",
    "openai-responses": "openai-responses:gpt-5-mini?reasoning.effort=low",
    "anthropic": "anthropic:claude-sonnet-4",
    "http": "http:application.yaml",
    "simulator": "simulator:biased or simulator:unbiased",
    "replay": "replay:answers.jsonl",
}
WITH_ADDRESS = ("openai", "openai-responses", "anthropic")
ROLE = "role"
NOT_PARAMETERS = frozenset(
    {"model", "messages", "input", "stream", "n", "timeout"}
    | {"extra_headers", "extra_query", "extra_body"}
)
"""What the platform sets itself; a header of one's own could carry a secret into records."""


def parse_target(
    written: str,
    *,
    parameters: Mapping[str, JsonValue] | None = None,
    system_prompt: str | None = None,
) -> Target:
    """Read a target.

    Raises
    ------
    UsageError
        The provider is unknown, the model is missing, the URL is none, a parameter is wrong, or
        the file of an application cannot be read.
    """
    provider, colon, rest = written.partition(":")
    if not colon or provider not in PROVIDERS:
        known = "; ".join(PROVIDERS.values())
        raise UsageError(f"The target {written!r} names no provider that is known. Write {known}.")
    rest, _, options = (rest, "", "") if provider == "replay" else rest.partition("?")
    model, at, base_url = rest.partition("@") if provider in WITH_ADDRESS else (rest, "", "")
    if not model:
        raise UsageError(f"The target {written!r} names no model. Write {PROVIDERS[provider]}.")
    _check_address(written, at, base_url)
    given, role = _options(written, options)
    if role is not None and system_prompt is not None:
        raise UsageError(f"The target {written!r} has a role and a system prompt; give one.")
    target = Target(
        name=written,
        provider=provider,
        model=str(Path(model).resolve()) if provider == "replay" else model,
        base_url=base_url or None,
        parameters={**(parameters or {}), **given},
        system_prompt=system_prompt if role is None else system_prompt_of(role),
    )
    _check_parameters(target)
    return _described(target) if provider == "http" else target


def _check_address(written: str, at: str, base_url: str) -> None:
    if at and not base_url.startswith(("http://", "https://")):
        raise UsageError(f"The address in {written!r} must begin with http:// or https://.")
    if "@" in base_url.partition("://")[2].partition("/")[0]:
        # Refused rather than hidden: the target's name stands in records, metrics and reports.
        raise UsageError("A target's address must hold no user or password; set the key instead.")


def _options(written: str, options: str) -> tuple[dict[str, JsonValue], str | None]:
    """Read `temperature=0.2&reasoning.effort=low&role=assistant`; a dot leads inside."""
    given: dict[str, JsonValue] = {}
    role = None
    try:
        pairs = parse_qsl(options, keep_blank_values=True, strict_parsing=bool(options))
    except ValueError:
        raise UsageError(
            f"The parameters of {written!r} must be written name=value, joined by &."
        ) from None
    for name, value in pairs:
        if name == ROLE:
            role = value
        else:
            _put(given, name.split("."), _value(value), written)
    return given, role


def _put(into: dict[str, JsonValue], path: list[str], value: JsonValue, written: str) -> None:
    *way, last = path
    for step in way:
        inner = into.setdefault(step, {})
        if not isinstance(inner, dict):
            raise UsageError(f"The parameter {step} of {written!r} is given twice.")
        into = inner
    if last in into or not last:
        raise UsageError(f"A parameter of {written!r} is given twice, or has no name.")
    into[last] = value


def _value(written: str) -> JsonValue:
    """Take numbers, true, false, null and JSON for what they are; everything else is text."""
    try:
        value: JsonValue = json.loads(written, parse_constant=lambda word: word)
    except (ValueError, RecursionError):
        return written
    return value


def _check_parameters(target: Target) -> None:
    if taken := sorted(NOT_PARAMETERS & target.parameters.keys()):
        raise UsageError(
            f"The parameter {taken[0]} cannot be set on the target {target.name!r}; the platform"
            " sets it."
        )


def _described(target: Target) -> Target:
    """Put what the file says into the target, so that the generator needs no file."""
    if target.parameters:
        raise UsageError(
            f"The target {target.name!r} takes no parameters; write them into the request of its"
            " file."
        )
    application = read_application(Path(target.model))
    return target.model_copy(
        update={"base_url": application.url, "parameters": application.model_dump(mode="json")}
    )
