"""The model under test, and how people write it: `provider:model[@base_url][?name=value&...]`."""

import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import parse_qsl

from pydantic import BaseModel, JsonValue, ValidationError

from biaswatch.shared.contracts.identity import Name, derived_id, token_of
from biaswatch.shared.contracts.mistakes import as_usage_error, first_mistake
from biaswatch.shared.contracts.providers import PROVIDERS, Provider
from biaswatch.shared.contracts.record import Part, computed_once, empty_mapping
from biaswatch.shared.errors import UsageError

ROLE = "role"
ROLE_PLAY = "role-play "
BATCH = "batch"
"""The parameter that sends the calls of a target in batches of the provider."""
NOT_PARAMETERS = {
    **dict.fromkeys(("model", "messages", "input", "stream", "n"), "the platform sets it"),
    "system": "write it as role=...",
    "timeout": "BIASWATCH_GENERATOR_TIMEOUT_S of the generator sets it",
    "extra_body": "write what it holds as parameters of their own",
    "extra_query": "write api-version as a parameter; others belong into the address",
    "extra_headers": "a header could carry a secret into records",
    **dict.fromkeys(("api_key", "api-key", "authorization"), "records would hold the key"),
}
"""Parameters that a target cannot set, and what to do instead."""


class Target(Part):
    """One way to ask one model; another role or temperature makes another target."""

    name: Name
    """As the user wrote it: `provider:model[@base_url]`."""
    provider: Name
    """Which adapter asks it: openai, anthropic, replay, simulator."""
    model: Name
    """The provider's own name of the model, or a file for replay."""
    base_url: str | None = None
    """Where the server is, when it is not the provider's usual one."""
    parameters: dict[str, JsonValue] = empty_mapping()
    """Sampling parameters, handed to the provider unchanged, and `batch`."""
    system_prompt: str | None = None
    """The role the model is put in; part of the plan, so it stays when texts are purged."""

    @property
    def in_batches(self) -> bool:
        """True if its calls are sent in the provider's batches, at half the price."""
        return self.parameters.get(BATCH) is True

    @computed_once
    def lane(self) -> str:
        """The target's word in subjects: readable, and different for different targets."""
        if not self.parameters:  # every record has a copy of its target
            return _lane_without_parameters(self.name, self.system_prompt)
        return _lane(self.name, self.parameters, self.system_prompt)


def _lane(name: str, parameters: Mapping[str, JsonValue], system_prompt: str | None) -> str:
    how = derived_id("target", name, dict(parameters), system_prompt)
    return token_of(name) + "-" + how[:8]


@lru_cache(maxsize=256)
def _lane_without_parameters(name: str, system_prompt: str | None) -> str:
    return _lane(name, {}, system_prompt)


def parse_target(
    written: str,
    *,
    parameters: Mapping[str, JsonValue] | None = None,
    system_prompt: str | None = None,
) -> Target:
    """Read a target from its text alone; no file that it names is opened.

    `parameters` and `system_prompt` are those of all targets of a run.

    Raises
    ------
    UsageError
        The provider is unknown, the model is missing, the URL or a parameter is wrong.
    """
    name, colon, rest = written.partition(":")
    if not colon or name not in PROVIDERS:
        known = "; ".join(provider.example for provider in PROVIDERS.values())
        raise UsageError(f"The target {written!r} names no provider that is known. Write {known}.")
    provider = PROVIDERS[name]
    rest, _, query = (rest, "", "") if provider.recorded else rest.partition("?")
    model, at, base_url = rest.partition("@") if provider.takes_address else (rest, "", "")
    if not model:
        raise UsageError(f"The target {written!r} names no model. Write {provider.example}.")
    _check_address(written, at, base_url)
    query_parameters, role = _options(written, query)
    if role is not None and system_prompt is not None:
        raise UsageError(f"The target {written!r} has a role and a system prompt; give one.")
    all_parameters = _with_batch(written, provider, {**(parameters or {}), **query_parameters})
    if provider.request_model:
        written = _without_description(f"{name}:{model}", query)
        all_parameters = _request(written, provider.request_model, all_parameters)
    elif taken := sorted(NOT_PARAMETERS.keys() & all_parameters.keys()):
        raise UsageError(
            f"The parameter {taken[0]} cannot be set on the target {written.partition('?')[0]!r}:"
            f" {NOT_PARAMETERS[taken[0]]}."
        )
    with as_usage_error("The target"):
        return Target(
            name=written,
            provider=name,
            model=model,
            base_url=str(all_parameters["url"]) if provider.request_model else base_url or None,
            parameters=all_parameters,
            system_prompt=system_prompt if role is None else system_prompt_of(role),
        )


def _with_batch(
    written: str, provider: Provider, parameters: dict[str, JsonValue]
) -> dict[str, JsonValue]:
    """Return the parameters with a valid `batch`, or without one."""
    batch = parameters.get(BATCH, False)
    if not isinstance(batch, bool):
        raise UsageError(f"The parameter batch of {written!r} must be true or false.")
    if batch and not provider.batches:
        known = ", ".join(f"{name}:" for name, other in PROVIDERS.items() if other.batches)
        raise UsageError(
            f"The target {written!r} has no batches: only {known} targets have."
            " Leave out batch=true."
        )
    return {name: value for name, value in parameters.items() if batch or name != BATCH}


def system_prompt_of(role: str) -> str | None:
    """Return the prompt of `none`, `assistant`, `role-play X`; other words are the prompt."""
    if role == "none":
        return None
    if role == "assistant":
        return "You are a helpful assistant."
    if role.startswith(ROLE_PLAY) and (part := role.removeprefix(ROLE_PLAY).strip()):
        return f"Play this part in all that follows, and do not step out of it: {part}."
    return role


def _check_address(written: str, at: str, base_url: str) -> None:
    if at and not base_url.startswith(("http://", "https://")):
        raise UsageError(f"The address in {written!r} must begin with http:// or https://.")
    if "@" in base_url.partition("://")[2].partition("/")[0]:
        # Refused rather than hidden: the target's name is in records, metrics and reports.
        raise UsageError("A target's address must hold no user or password; set the key instead.")


def _options(written: str, query: str) -> tuple[dict[str, JsonValue], str | None]:
    """Read `temperature=0.2&reasoning.effort=low&role=assistant`; a dot leads inside."""
    parameters: dict[str, JsonValue] = {}
    role = None
    if re.search("@https?://", query):
        raise UsageError(
            f"The address in {written!r} follows the parameters. Write"
            " provider:model@address?name=value."
        )
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise UsageError(
            f"The parameters of {written!r} must be written name=value, joined by &."
        ) from None
    for name, value in pairs:
        if name == ROLE:
            role = value
        else:
            if value.lstrip().startswith("{") and isinstance(_value(value), str):
                raise UsageError(
                    f"The parameter {name} of {written!r} is not JSON. Write its names and texts in"
                    " double quotes, and the target in single quotes of the shell."
                )
            _put(parameters, name.split("."), _value(value), written)
    return parameters, role


def _put(into: dict[str, JsonValue], path: list[str], value: JsonValue, written: str) -> None:
    *way, last = path
    for step in way:
        inner = into.setdefault(step, {})
        if not isinstance(inner, dict):
            raise UsageError(f"The parameter {step} of {written!r} is given twice.")
        into = inner
    if last in into or not all(path):
        raise UsageError(f"A parameter of {written!r} is given twice, or has no name.")
    into[last] = value


def _value(written: str) -> JsonValue:
    """Take numbers, true, false, null and JSON for what they are; everything else is text."""
    try:
        value: JsonValue = json.loads(
            written, parse_constant=lambda word: word, parse_float=_finite
        )
    except (ValueError, RecursionError):
        return written
    return value


def _finite(digits: str) -> float:
    """Return a number that JSON can hold; raise ValueError for another."""
    if not math.isfinite(number := float(digits)):
        raise ValueError(digits)
    return number


def _without_description(named: str, query: str) -> str:
    """Return the target as its file alone would name it, with its role."""
    role = [option for option in query.split("&") if option.partition("=")[0] == ROLE]
    return "?".join([named, *role])


def _request(
    named: str, request_model: type[BaseModel], parameters: dict[str, JsonValue]
) -> dict[str, JsonValue]:
    """Return the validated description of the request."""
    if not parameters:
        raise UsageError(
            f"The target {named!r} lacks the description of its request. The command line reads"
            " it from the file it names; for the gateway, write url, request and answer as"
            " parameters."
        )
    try:
        return request_model.model_validate(parameters).model_dump(mode="json")
    except ValidationError as error:
        mistake = first_mistake(error).in_words("the description")
        raise UsageError(f"The target {named!r}, {mistake}.") from None
