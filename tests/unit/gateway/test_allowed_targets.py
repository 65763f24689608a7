"""What is asked over HTTP may name what the operator allows, and no file or server besides."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from biaswatch.services.gateway.settings import AllowedTargets, GatewaySettings
from biaswatch.shared.contracts import parse_target
from biaswatch.shared.errors import UsageError

APP = "http:app?url={}&request=%7B%7D&answer=/a"


@pytest.mark.parametrize(
    ("pattern", "written", "allowed"),
    [
        ("*", "openai:m@http://10.0.0.1/v1", True),
        ("openai:*", "openai:gpt-5", True),
        ("openai:*", "openai:gpt-5@https://llm.example/v1", False),
        ("openai:*", "anthropic:m", False),
        ("openai:gpt-5*", "openai:gpt-5-mini", True),
        ("openai:gpt-5*", "openai:o3", False),
        ("openai:gpt-5", "openai:gpt-5-mini", False),
        ("*:*@https://llm.example", "anthropic:m@https://llm.example/any/path", True),
        ("openai:*@https://llm.example/v1", "openai:m@https://llm.example/v1", True),
        ("openai:*@https://llm.example/v1", "openai:m@https://llm.example/v1/x", True),
        ("openai:*@https://llm.example/v1", "openai:m@https://llm.example/v12", False),
        ("openai:*@https://llm.example/v1", "openai:m@https://llm.example/v1/../admin", False),
        ("openai:*@https://llm.example/v1", "openai:m@https://llm.example/v1/%2e%2e/admin", False),
        ("openai:*@https://llm.example", "openai:m@https://llm.example.evil", False),
        ("openai:*@https://llm.example", "openai:m@http://llm.example", False),
        ("openai:*@https://llm.example", "openai:m@https://llm.example:8443", False),
        ("openai:*@https://llm.example", "openai:m@https://LLM.example:443/", True),
        ("openai:*@https://*.example", "openai:m@https://a.b.example/v1", True),
        ("openai:*@https://*.example", "openai:m@https://example/v1", False),
        ("openai:*@https://*.example", "openai:m@https://evil/a.example", False),
        ("openai:*@https://llm.example", "openai:m", False),
        ("http:https://app.example/ask", APP.format("https://app.example/ask"), True),
        ("http:https://app.example/ask", APP.format("https://app.example/admin"), False),
        ("http:https://app.example/ask", "openai:m@https://app.example/ask", False),
        ("openai:*", APP.format("https://app.example/ask"), False),
    ],
)
def test_a_pattern_allows_what_it_says_and_nothing_else(
    pattern: str, written: str, allowed: bool
) -> None:
    targets = [parse_target("simulator:biased"), parse_target(written)]
    rule = AllowedTargets(("simulator:*", pattern))
    if allowed:
        rule.check(targets)
    else:
        with pytest.raises(UsageError, match="BIASWATCH_GATEWAY_TARGETS"):
            rule.check(targets)


@pytest.mark.parametrize(
    "written", ["openai:m", "anthropic:m", "simulator:biased", "replay:answers.jsonl"]
)
def test_with_tokens_requests_name_no_server_of_their_own_unless_it_is_allowed(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASWATCH_GATEWAY_RUN_TOKEN", "run-me")
    rule = GatewaySettings().allowed_targets
    rule.check([parse_target(written)])
    for own in ("openai:m@https://llm.example/v1", APP.format("https://app.example/")):
        with pytest.raises(UsageError):
            rule.check([parse_target(own)])


def test_a_file_of_tokens_guards_as_tokens_do(tmp_path: Path) -> None:
    rule = GatewaySettings(gateway_tokens_file=tmp_path / "tokens.yaml").allowed_targets
    with pytest.raises(UsageError):
        rule.check([parse_target("openai:m@http://10.0.0.1/v1")])


def test_on_ones_own_machine_every_target_may_be_named() -> None:
    GatewaySettings().allowed_targets.check([parse_target("openai:m@http://localhost:1/v1")])


@pytest.mark.parametrize("pattern", ["", "openai", "nobody:*", "openai:"])
def test_a_pattern_that_allows_nothing_is_a_mistake(pattern: str) -> None:
    with pytest.raises(ValidationError, match="not a pattern of targets"):
        GatewaySettings(gateway_targets=(pattern,))
