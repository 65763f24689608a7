"""SmolLM2 as `local:smollm2`: the server, and one call through the adapter of the generator."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from biaswatch.shared.contracts import parse_target
from biaswatch.shared.llm.local_chat import LocalChat
from biaswatch.shared.llm.local_models import LocalModels
from biaswatch.shared.llm.port import AnswerSchema, ModelCall, ModelEndpoint

SCHEMA = AnswerSchema(
    "rating",
    {
        "type": "object",
        "properties": {"rating": {"type": "integer", "enum": [1, 2, 3, 4, 5]}},
        "required": ["rating"],
        "additionalProperties": False,
    },
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModels]:
    models = LocalModels(tmp_path_factory.mktemp("models"))
    yield models
    models.close()


def call(repeat_key: str, schema: AnswerSchema | None = None) -> ModelCall:
    question = "How sweet is an apple, from 1 to 5? Answer with one number."
    return ModelCall(
        "smollm2",
        ({"role": "user", "content": question},),
        repeat_key,
        parameters={"max_tokens": 24},
        answer_schema=schema,
    )


async def test_the_model_answers_and_a_repeat_key_decides_the_answer(models: LocalModels) -> None:
    chat = LocalChat.connect(
        parse_target("local:smollm2"), ModelEndpoint(url="", local_models=models)
    )
    try:
        first, again, other = [await chat.ask(call(key)) for key in ("a", "a", "b")]
        assert first.text == again.text
        assert other.text != first.text
        assert first.completion_tokens
        constrained = await chat.ask(call("a", SCHEMA))
        assert set(constrained.text) <= set('{"rating": 12345}\n ')
    finally:
        await chat.close()


def test_the_log_is_kept(models: LocalModels, tmp_path: Path) -> None:
    model = models.model("smollm2")
    model.address()
    assert "model loaded" in model.log_file.read_text()
