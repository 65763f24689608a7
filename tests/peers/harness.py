"""lm-evaluation-harness on a llama.cpp server: `harness.py ADDRESS FOLDER` in `.venv-peers`.

The folder has `crows.jsonl` or `bbq.jsonl`, rows of their authors' files; `results.json` is written
beside them. Nothing of biaswatch is imported: the adapter is another reading of the server.
"""

import importlib.util
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

import lm_eval
from lm_eval.api.model import LM

TASKS = Path(lm_eval.__file__).parent / "tasks"


class LlamaServer(LM):
    """The log-probability of a text as the sum of those of its tokens, each of them forced."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address
        first = self._reply("/props")["bos_token"]
        self._first = self._tokens(first, special=True)

    def loglikelihood(self, requests: list[Any], **_: Any) -> list[tuple[float, bool]]:
        """Return the log-likelihood of each continuation; whether it is greedy is not asked."""
        return [(self._score(*request.args), False) for request in requests]

    def loglikelihood_rolling(self, requests: list[Any], **_: Any) -> list[float]:
        """Refuse: no task here needs it."""
        raise NotImplementedError

    def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
        """Refuse: no task here needs it."""
        raise NotImplementedError

    def _score(self, context: str, continuation: str) -> float:
        begin = self._tokens(context) if context else self._first
        whole = self._tokens(context + continuation)
        rest = whole[len(begin) :] if context else whole
        total, known = 0.0, list(begin)
        for token in rest:
            body = {"prompt": known, "n_predict": 1, "n_probs": 1, "logit_bias": [[token, 1e9]]}
            [chosen] = self._reply("/completion", body)["completion_probabilities"]
            total += chosen["logprob"]
            known.append(token)
        return total

    def _tokens(self, text: str, *, special: bool = False) -> list[int]:
        body = {"content": text, "parse_special": special}
        tokens: list[int] = self._reply("/tokenize", body)["tokens"]
        return tokens

    def _reply(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read())


def functions_of(task: str) -> Any:
    """Import the functions of a task of the harness, whose folder is no package."""
    spec = importlib.util.spec_from_file_location(task, TASKS / task / "utils.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def task_of(name: str, folder: Path, metrics: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a multiple-choice task on a local file, with these metrics of its functions alone."""
    process = fields.pop("process_results")

    def wanted(doc: Any, results: Any) -> dict[str, Any]:
        return {k: value for k, value in process(doc, results).items() if k in metrics}

    return {
        "process_results": wanted,
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / f"{name}.jsonl")}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "metric_list": [
            {"metric": metric, "aggregation": mean, "higher_is_better": False}
            for metric, mean in metrics.items()
        ],
        **fields,
    }


def main(address: str, folder: Path) -> None:
    """Evaluate the tasks whose file is there, and write metrics and log-likelihoods."""
    crows, bbq = functions_of("crows_pairs"), functions_of("bbq")
    tasks = [
        task_of(
            "crows", folder, {"likelihood_diff": "mean", "pct_stereotype": "mean"},
            doc_to_text="", doc_to_target=0, target_delimiter="",
            doc_to_choice=crows.doc_to_choice, process_results=crows.process_results,
        ),
        task_of(
            "bbq", folder,
            {
                "acc": "mean",
                "accuracy_amb": bbq.agg_accuracy_amb,
                "accuracy_disamb": bbq.agg_accuracy_disamb,
                "amb_bias_score": bbq.agg_amb_bias_scores,
                "disamb_bias_score": bbq.agg_disamb_bias_scores,
            },
            doc_to_text="{{context}}\n\nQ: {{question}}\nA:", process_docs=bbq.process_docs,
            doc_to_target=bbq.doc_to_target, doc_to_choice=bbq.doc_to_choice,
            process_results=bbq.process_results_multiple_choice,
        ),
    ]  # fmt: skip
    tasks = [task for task in tasks if (folder / f"{task['task']}.jsonl").exists()]
    evaluated = lm_eval.simple_evaluate(
        model=LlamaServer(address), tasks=tasks, log_samples=True, bootstrap_iters=0
    )
    results = {
        name: {
            "metrics": evaluated["results"][name],
            "choices": [sample_choices(sample) for sample in samples],
            "loglikelihoods": [
                [float(reply[0][0]) for reply in sample["resps"]] for sample in samples
            ],
        }
        for name, samples in evaluated["samples"].items()
    }
    (folder / "results.json").write_text(json.dumps(results, default=float))


def sample_choices(sample: Any) -> list[str]:
    """Return the continuations of one question as they were sent."""
    return [str(continuation) for _, continuation in sample["arguments"]]


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
