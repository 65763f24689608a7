"""Targets as people write them."""

from pathlib import Path

import pytest

from biaswatch.shared.contracts import parse_target
from biaswatch.shared.contracts.providers.http import Application
from biaswatch.shared.errors import UsageError


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
    targets = [parse_target(item) for item in written]
    assert len({target.lane for target in targets}) == 3
    assert [target.name for target in targets] == written


def test_recorded_answers_take_the_whole_name_for_a_file() -> None:
    assert parse_target("replay:what?.jsonl").model == "what?.jsonl"


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
        ("openai:m?api_key=sk-1", "records would hold the key"),
        ("openai:m?temperature=0@http://127.0.0.1:1/v1", "address .* follows the parameters"),
        ("openai:m?chat_template_kwargs={enable_thinking:false}", "chat_template_kwargs .*JSON"),
        ("openai:m?a..b=1", "no name"),
        ("openai:m?.a=1", "no name"),
    ],
)
def test_a_wrong_target_is_a_sentence(written: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_target(written)


def test_a_key_among_the_parameters_is_not_repeated() -> None:
    with pytest.raises(UsageError) as refused:
        parse_target("openai:m?api_key=sk-1")
    assert "sk-1" not in str(refused.value)


DESCRIBED = 'url=https://a.example/ask&request={"q":"{prompt}"}&answer=/text'


def test_an_application_is_described_by_its_parameters() -> None:
    target = parse_target(f"http:app.yaml?{DESCRIBED}&role=assistant")
    assert target.name == "http:app.yaml?role=assistant"
    assert target.base_url == "https://a.example/ask"
    assert target.parameters["request"] == {"q": "{prompt}"}
    assert target.system_prompt == "You are a helpful assistant."


def test_every_field_of_an_application_survives_being_written_into_a_target() -> None:
    application = Application(
        url="https://a.example/a?b=c&d=%20e", request={"a+b": ["{prompt}", 1, None]}, answer="/1/2",
        headers={"X-One": "1", "X-Two": "true"}, key_prefix="",
    )  # fmt: skip
    target = parse_target(f"http:app.yaml?{application.as_parameters()}")
    assert Application.model_validate(target.parameters) == application


def test_no_file_is_opened_to_read_a_target(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("x")
    messages = []
    for name in ("there", "gone"):
        with pytest.raises(UsageError) as refused:
            parse_target(f"http:{tmp_path}/{name}")
        messages.append(str(refused.value).replace(name, ""))
    assert messages[0] == messages[1]


def test_a_wrong_description_names_the_field_and_repeats_nothing() -> None:
    with pytest.raises(UsageError, match=r"http:app\.yaml', url") as wrong:
        parse_target("http:app.yaml?url=http://me:secret@x/&request={}&answer=/a")
    assert "secret" not in str(wrong.value)
