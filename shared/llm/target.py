"""Targets as people write them: `provider:model[@base_url]`."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from shared.contracts import Target
from shared.errors import UsageError

PROVIDERS = {
    "openai": "openai:gpt-5-mini, or openai:llama3.1@http://localhost:11434/v1",
    "simulator": "simulator:biased or simulator:unbiased",
    "replay": "replay:answers.jsonl",
}


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
        The provider is unknown, the model is missing, or the URL is none.
    """
    provider, colon, rest = written.partition(":")
    if not colon or provider not in PROVIDERS:
        known = "; ".join(PROVIDERS.values())
        raise UsageError(f"The target {written!r} names no provider that is known. Write {known}.")
    model, at, base_url = rest.partition("@") if provider == "openai" else (rest, "", "")
    if not model:
        raise UsageError(f"The target {written!r} names no model. Write {PROVIDERS[provider]}.")
    if at and not base_url.startswith(("http://", "https://")):
        raise UsageError(f"The address in {written!r} must begin with http:// or https://.")
    if "@" in base_url.partition("://")[2].partition("/")[0]:
        # Refused rather than hidden: the target's name stands in records, metrics and reports.
        raise UsageError("A target's address must hold no user or password; set the key instead.")
    return Target(
        name=written,
        provider=provider,
        model=str(Path(model).resolve()) if provider == "replay" else model,
        base_url=base_url or None,
        parameters=dict(parameters or {}),
        system_prompt=system_prompt,
    )
