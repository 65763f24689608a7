"""Check the model extractors on a GPU: `python -m tools.gpu_check`, at most four minutes.

The models have the architectures of `unitary/toxic-bert` and `all-MiniLM-L6-v2` with random
weights, so that nothing is downloaded. On a machine without a GPU the same checks run on its CPU,
with small models and without the bars. Needs the `models` extra.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biaswatch.shared.models.device import ModelOptions
from biaswatch.shared.models.forward_passes import Row
from biaswatch.shared.models.text_models import Classifier, Embedder
from tools.random_models import EncoderSize, sample_texts, write_classifier, write_embedder

MIN_AGAINST_ONE_BY_ONE = 3.0
MIN_AGAINST_BARE_LOOP = 0.9
MAX_DIFFERENCE = 1e-3
"""The largest difference between half precision on the GPU and single precision on the CPU."""
ROUNDS = 5
BARE_BATCH = 256


@dataclass(frozen=True)
class Sample:
    """Sizes of the models and of the samples of one check."""

    classifier: EncoderSize
    embedder: EncoderSize
    texts: int
    texts_alone: int


REAL = Sample(EncoderSize(12, 768), EncoderSize(6, 384), texts=6000, texts_alone=300)
SMALL = Sample(EncoderSize(2, 128), EncoderSize(2, 64), texts=120, texts_alone=40)


def bare_loop(folder: str, device: Any, dtype: Any) -> Callable[[Sequence[str]], np.ndarray]:
    """Return a plain transformers loop: texts sorted by length, batches of one size."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModelForSequenceClassification.from_pretrained(folder, dtype=dtype)
    network = network.to(device).eval()

    def scores(texts: Sequence[str]) -> np.ndarray:
        order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
        rows: dict[int, Any] = {}
        with torch.inference_mode():
            for start in range(0, len(order), BARE_BATCH):
                batch = order[start : start + BARE_BATCH]
                tokens = tokenizer(
                    [texts[n] for n in batch], truncation=True, padding=True, return_tensors="pt"
                ).to(device)
                rows.update(
                    zip(
                        batch, network(**tokens).logits.sigmoid().float().cpu().numpy(), strict=True
                    )
                )
        return np.stack([rows[n] for n in range(len(texts))])

    return scores


def score_matrix(classifier: Classifier, texts: Sequence[str]) -> np.ndarray:
    """Return scores, shape (texts, labels); raise the first error of a text."""
    return _matrix(
        [s if isinstance(s, Exception) else [*s.values()] for s in classifier.scores(texts)]
    )


def vector_matrix(embedder: Embedder, texts: Sequence[str]) -> np.ndarray:
    """Return unit vectors, shape (texts, width); raise the first error of a text."""
    return _matrix(embedder.vectors(texts))


def _matrix(rows: Sequence[Row | list[float] | Exception]) -> np.ndarray:
    for row in rows:
        if isinstance(row, Exception):
            raise row
    return np.asarray(rows, dtype=float)


def texts_per_second(work: Callable[[Sequence[str]], object], texts: Sequence[str]) -> float:
    """Return the median speed of some passes over the texts, after one to warm up."""
    work(texts)
    speeds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work(texts)
        speeds.append(len(texts) / (time.perf_counter() - began))
    return statistics.median(speeds)


@dataclass
class Report:
    """Lines of the checks, and whether all bars were reached."""

    judged: bool
    passed: bool = True

    def line(self, name: str, value: str, *, reached: bool) -> None:
        """Print one check with its outcome."""
        outcome = ("ok" if reached else "MISSED") if self.judged else "not judged on a CPU"
        self.passed &= reached or not self.judged
        print(f"{name:<62} {value:>26}  {outcome}", flush=True)


def check_speed(folder: str, models: ModelOptions, sample: Sample, report: Report) -> None:
    """Compare batches with one by one, and with a bare loop of transformers."""
    texts = sample_texts(sample.texts, 2)
    batched, alone = Classifier(folder, models), Classifier(folder, models, size=1)
    bare = bare_loop(folder, models.torch_device(), models.precision())
    fast = texts_per_second(batched.scores, texts)
    slow = texts_per_second(alone.scores, texts[: sample.texts_alone])
    loop = texts_per_second(bare, texts)
    report.line(
        f"classifier: {fast:,.0f} texts/s against {slow:,.0f} one by one",
        f"{fast / slow:.1f} times (bar {MIN_AGAINST_ONE_BY_ONE:g})",
        reached=fast / slow >= MIN_AGAINST_ONE_BY_ONE,
    )
    report.line(
        f"classifier: {fast:,.0f} texts/s against {loop:,.0f} in a bare loop",
        f"{fast / loop:.2f} of it (bar {MIN_AGAINST_BARE_LOOP:g})",
        reached=fast / loop >= MIN_AGAINST_BARE_LOOP,
    )
    by_tokens = {n: batched.size_for(n) for n in (16, 32, 64, 128, 256, 512)}
    print(f"  batch sizes by tokens: {by_tokens}")


def check_equality(folders: tuple[str, str], models: ModelOptions, report: Report) -> None:
    """Compare the device with the CPU in single precision."""
    texts = sample_texts(64, 3)
    cpu = ModelOptions("cpu")
    for name, measured, expected in (
        (
            "classifier",
            score_matrix(Classifier(folders[0], models), texts),
            score_matrix(Classifier(folders[0], cpu), texts),
        ),
        (
            "embedder",
            vector_matrix(Embedder(models, folders[1]), texts),
            vector_matrix(Embedder(cpu, folders[1]), texts),
        ),
    ):
        gap = float(np.abs(measured - expected).max())
        report.line(
            f"{name}: largest difference to the CPU (spread {expected.std():.2f})",
            f"{gap:.1e} (bar {MAX_DIFFERENCE:g})",
            reached=gap <= MAX_DIFFERENCE,
        )


def check_memory(folder: str, models: ModelOptions, sample: Sample, report: Report) -> None:
    """Limit the memory of the device; batches that do not fit are halved, no text is lost."""
    import torch

    if models.torch_device().type != "cuda":
        print("  out of memory: needs a GPU")
        return
    texts = sample_texts(sample.texts // 4, 4)
    expected = score_matrix(Classifier(folder, models), texts)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    room = torch.cuda.memory_allocated() + 1.2 * 2**30
    torch.cuda.set_per_process_memory_fraction(room / total)
    limited = Classifier(folder, models, size=4096)
    try:
        gap = float(np.abs(score_matrix(limited, texts) - expected).max())
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    reached = limited.size_for(512) < 4096 and gap <= MAX_DIFFERENCE
    report.line(
        f"out of memory: batches of 4096 were halved to {limited.size_for(512)}",
        f"difference {gap:.1e}",
        reached=reached,
    )


def worker(folder: str, seed: int, device: str) -> None:
    """Score texts as one worker process; print its speed and the sum of its scores."""
    classifier = Classifier(folder, ModelOptions("cuda" if device == "cuda" else "cpu"))
    texts = sample_texts((REAL if device == "cuda" else SMALL).texts, seed)
    speed = texts_per_second(classifier.scores, texts)
    print(speed, repr(float(score_matrix(classifier, texts).sum())))


def check_two_workers(folder: str, models: ModelOptions, report: Report) -> None:
    """Run two worker processes on one card; each gives the results of a single one."""
    device = models.torch_device().type
    command = [sys.executable, "-m", "tools.gpu_check", "--worker", folder, device]
    alone = _finished(_started(command, 5))
    pair = [_started(command, seed) for seed in (5, 6)]
    outcomes = [_finished(process) for process in pair]
    gap = abs(outcomes[0][1] - alone[1]) / abs(alone[1])
    together = outcomes[0][0] + outcomes[1][0]
    report.line(
        f"two workers: {together:,.0f} texts/s together, {alone[0]:,.0f} alone",
        f"difference {gap:.1e}",
        reached=gap <= MAX_DIFFERENCE,
    )


def _started(command: Sequence[str], seed: int) -> "subprocess.Popen[str]":
    return subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True)


def _finished(process: "subprocess.Popen[str]") -> tuple[float, float]:
    output, _ = process.communicate()
    if process.returncode:
        raise SystemExit("A worker process failed; its error is above.")
    speed, total = output.split()[-2:]
    return float(speed), float(total)


def main() -> int:
    """Run every check; return 1 if one misses its bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=3, metavar=("FOLDER", "DEVICE", "SEED"))
    if arguments := parser.parse_args().worker:
        worker(arguments[0], int(arguments[2]), arguments[1])
        return 0
    import torch

    torch.manual_seed(0)
    models = ModelOptions("auto")
    on_gpu = models.torch_device().type == "cuda"
    name = torch.cuda.get_device_name(0) if on_gpu else "no GPU, small models on the CPU"
    print(f"{name}; torch {torch.__version__}; {models.precision()}", flush=True)
    sample, report, began = REAL if on_gpu else SMALL, Report(judged=on_gpu), time.perf_counter()
    with tempfile.TemporaryDirectory() as root:
        classifier, embedder = Path(root, "classifier"), Path(root, "embedder")
        folders = (
            write_classifier(classifier, sample.classifier),
            write_embedder(embedder, sample.embedder),
        )
        check_equality(folders, models, report)
        check_speed(folders[0], models, sample, report)
        check_memory(folders[0], models, sample, report)
        check_two_workers(folders[0], models, report)
    print(f"{time.perf_counter() - began:.0f} s in all; {'passed' if report.passed else 'MISSED'}")
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
