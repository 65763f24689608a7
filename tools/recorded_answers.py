"""Record answers of SmolLM2 to our own suites, as the fixtures of tests.

`python -m tools.recorded_answers OUT --answers 2000 --seed 1 --temperature 0.7` appends JSON lines;
it goes on where it stopped. Needs `make llm`.
"""

import argparse
import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from biaswatch.readers.suites import load_suite
from biaswatch.services.generator.domain.planned_calls import PlannedCall
from biaswatch.services.generator.domain.scaffolds import scaffold_of
from biaswatch.shared.contracts import Probe, Run, Suite, parse_target, probes_of
from biaswatch.shared.llm import local_models

SUITES = Path("suites")
SCAFFOLD = "direct"
TOKEN_LIMITS = (12, 24, 48, 64)
"""Limits of tokens, drawn for each answer: some answers are cut off, as in production."""
TURNS, DEFAULT_TURNS = (
    dict.fromkeys(("countries", "countries-and-unions", "cv-hiring", "hiring-cvs"), 1)
    | {"hiring-callback": 8},
    3,
)
"""Questions of a suite in each round.

Those without a rating and those with long CVs are fewer; the one suite with choices has more.
"""
CALL_PATIENCE_S = 1800


@dataclass(frozen=True)
class RecordedQuestion:
    """One question of one suite."""

    suite: str
    probe: Probe
    call: PlannedCall
    max_tokens: int


def questions(answers: int, seed: int) -> Iterator[RecordedQuestion]:
    """Yield questions in random order, in equal shares of similar suites."""
    rng = random.Random(seed)  # noqa: S311
    target, at = parse_target("local:smollm2"), datetime(2026, 1, 1, tzinfo=UTC)
    by_suite = {}
    for folder in sorted(SUITES.iterdir()):
        suite: Suite = load_suite(folder)
        run = Run(
            at=at, suite=suite.name, suite_hash=suite.hash, targets=(target,), scaffolds=(SCAFFOLD,)
        )
        probes = list(probes_of(run, suite, at))
        by_suite[suite.name] = rng.sample(probes, len(probes))
    order = [name for name in by_suite for _ in range(TURNS.get(name, DEFAULT_TURNS))]
    rng.shuffle(order)
    for number in range(answers):
        name = order[number % len(order)]
        probes = by_suite[name]
        probes.append(probe := probes.pop(0))
        yield RecordedQuestion(
            name, probe, scaffold_of(SCAFFOLD).first(probe)[0], rng.choice(TOKEN_LIMITS)
        )


def recorded(
    address: str, question: RecordedQuestion, number: int, seed: int, temperature: float
) -> Any:
    """Ask a question; return the line of its answer."""
    body = {
        "messages": [{"role": m.role, "content": m.content} for m in question.call.messages],
        "max_tokens": question.max_tokens,
        "temperature": temperature,
        "seed": seed * 1_000_000 + number,
    }
    connection = HTTPConnection(urlsplit(address).netloc, timeout=CALL_PATIENCE_S)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    reply = json.loads(connection.getresponse().read())
    choice = reply["choices"][0]
    return {
        "id": f"s{seed}-{number:04}",
        "suite": question.suite,
        "key": question.probe.key,
        "finish": choice["finish_reason"],
        "text": choice["message"]["content"],
    }


def main() -> None:
    """Record what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--answers", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--threads", type=int, default=1)
    request = parser.parse_args()
    done = len(request.out.read_text().splitlines()) if request.out.exists() else 0
    with TemporaryDirectory() as folder, request.out.open("a") as out:
        model = local_models.LocalModel(
            local_models.gguf_file(local_models.SMOLLM2),
            Path(folder) / "model.log",
            threads=request.threads,
        )
        try:
            address = model.address()
            wanted = list(enumerate(questions(request.answers, request.seed)))[done:]
            with ThreadPoolExecutor(local_models.SLOTS) as pool:
                lines = pool.map(
                    lambda numbered: recorded(
                        address, numbered[1], numbered[0], request.seed, request.temperature
                    ),
                    wanted,
                )
                for line in lines:
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                    out.flush()
        finally:
            model.stop()


if __name__ == "__main__":
    main()
