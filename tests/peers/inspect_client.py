"""Inspect's own evaluation of a suite, in `.venv-inspect`: `inspect_client.py SUITE FOLDER`."""

import json
import sys
from typing import Any

from inspect_ai import eval as evaluate
from inspect_ai.log import read_eval_log
from inspect_ai.model import Model, ModelOutput, get_model


def replied(messages: list[Any], *_: Any) -> ModelOutput:
    """Return a rating that depends on the question; one question has no answer."""
    asked = messages[-1].text
    text = "" if "Henry Varga" in asked else f"Seen.\nRating: {1 + len(asked) % 5}"
    return ModelOutput.from_content("mockllm/model", text)


async def counted(_: Any, text: str) -> int:
    """Count tokens without the tokenizer that tiktoken would download."""
    return len(text)


def main(suite: str, folder: str) -> None:
    """Evaluate a suite by its registered task, and print what the log holds."""
    model: Model = get_model("mockllm/model", custom_outputs=replied)
    type(model.api).count_text_tokens = counted
    [done] = evaluate(f"biaswatch/{suite}", model=model, log_dir=folder, epochs=2, display="none")
    assert done.status == "success", done.error
    log = read_eval_log(done.location)
    scores = {
        f"{sample.id} {sample.epoch}": next(iter(sample.scores.values())).value
        for sample in log.samples
    }
    metrics = {
        f"{score.name} {name}": metric.value
        for score in log.results.scores
        for name, metric in score.metrics.items()
    }
    answers = {f"{s.id} {s.epoch}": s.output.completion for s in log.samples}
    result = {"log": done.location, "scores": scores, "metrics": metrics, "answers": answers}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
