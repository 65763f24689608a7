"""Targets as people write them."""

import pytest

from shared.errors import UsageError
from shared.llm.retry_after import retry_after_s
from shared.llm.target import parse_target


def test_a_target_may_have_an_address_parameters_and_a_role() -> None:
    target = parse_target(
        "openai:llama3.1@http://ollama:11434/v1?temperature=0.2&seed=7&stop=END"
        "&role=role-play+a+strict+recruiter"
    )
    assert (target.provider, target.model) == ("openai", "llama3.1")
    assert target.base_url == "http://ollama:11434/v1"
    assert target.parameters == {"temperature": 0.2, "seed": 7, "stop": "END"}
    assert target.system_prompt
    assert "a strict recruiter" in target.system_prompt


def test_a_dot_leads_into_a_parameter() -> None:
    target = parse_target("openai-responses:gpt-5?reasoning.effort=low&max_output_tokens=900")
    assert target.parameters == {"reasoning": {"effort": "low"}, "max_output_tokens": 900}


@pytest.mark.parametrize(
    ("role", "prompt"),
    [("none", None), ("assistant", "You are a helpful assistant."), ("Be!", "Be!")],
)
def test_roles(role: str, prompt: str | None) -> None:
    assert parse_target(f"anthropic:claude?role={role}").system_prompt == prompt


def test_another_role_or_parameter_is_another_lane_and_has_another_name() -> None:
    written = ["openai:m", "openai:m?role=assistant", "openai:m?temperature=0"]
    targets = [parse_target(each) for each in written]
    assert len({target.lane for target in targets}) == 3
    assert [target.name for target in targets] == written


def test_recorded_answers_take_the_whole_name_for_a_file() -> None:
    assert parse_target("replay:what?.jsonl").model.endswith("/what?.jsonl")


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("gpt-5", "names no provider"),
        ("mistral:x", "names no provider"),
        ("openai:", "names no model"),
        ("openai:m@localhost", "must begin with http"),
        ("openai:m@http://me:secret@x/v1", "no user or password"),
        ("openai:m?temperature", "name=value"),
        ("openai:m?temperature=1&temperature=2", "given twice"),
        ("openai:m?stream=true", "cannot be set"),
        ("openai:m?extra_headers.Authorization=secret", "cannot be set"),
    ],
)
def test_a_wrong_target_is_a_sentence(written: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_target(written)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        (
            {
                "retry-after": "Fri, 02 Jan 2026 03:04:35 GMT",
                "date": "Fri, 02 Jan 2026 03:04:05 GMT",
            },
            30,
        ),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-1"}, None),
        ({}, None),
    ],
)
def test_when_to_ask_again_is_read_however_it_is_said(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers) == seconds
