"""Forward passes of models over texts, in windows and measured batch sizes."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from biaswatch.shared.models.device import installation_hint

T = TypeVar("T")
R = TypeVar("R")

CLASSES = (16, 32, 64, 128, 256, 512)
"""Upper bounds of classes of length in tokens; each class has its own batch size."""
MIN_SPEEDUP = 1.05
"""A larger batch is used if it is faster per text by this factor, which is above noise."""


class OutOfMemory(Exception):  # noqa: N818 - an outcome, after which the batch is halved
    """The device has too little memory for a batch of this size."""


def length_class(tokens: int) -> int:
    """Return the class of a length."""
    return next((bound for bound in CLASSES if tokens <= bound), CLASSES[-1])


def best_size(seconds_for: Callable[[int], float], sizes: Sequence[int]) -> int:
    """Return the batch size with the least time per text; stop after two sizes without gain.

    Parameters
    ----------
    seconds_for
        Time of a batch of this size; raises OutOfMemory if it does not fit.
    sizes
        Sizes to try, in ascending order; the first must fit.
    """
    best, quickest, misses = sizes[0], float("inf"), 0
    for size in sizes:
        try:
            per_text_s = seconds_for(size) / size
        except OutOfMemory:
            break
        if per_text_s * MIN_SPEEDUP < quickest:
            best, quickest, misses = size, per_text_s, 0
        else:
            misses += 1
        if misses == 2:
            break
    return best


class BatchSizes:
    """Batch sizes by class of length, measured at first use and halved when memory runs out."""

    def __init__(self, measure: Callable[[int], int]) -> None:
        self._measure = measure
        self._sizes: dict[int, int] = {}

    def of(self, tokens: int) -> int:
        """Return the size for texts of this length."""
        bound = length_class(tokens)
        if bound not in self._sizes:
            self._sizes[bound] = self._measure(bound)
        return self._sizes[bound]

    def halve(self, tokens: int, tried: int) -> None:
        """Halve a size that did not fit, for this length and all longer ones."""
        for bound in CLASSES:
            if bound >= length_class(tokens):
                self._sizes[bound] = max(1, min(self._sizes.get(bound, tried), tried // 2))


def batches(lengths: Sequence[int], size_of: Callable[[int], int]) -> Iterator[list[int]]:
    """Yield batches of indices, longest items first, so that lack of memory shows at once."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    start = 0
    while start < len(order):
        size = size_of(lengths[order[start]])
        yield order[start : start + size]
        start += size


def run_in_batches(
    items: Sequence[T],
    lengths: Sequence[int],
    forward: Callable[[Sequence[T]], Sequence[R]],
    sizes: BatchSizes,
) -> list[R | Exception]:
    """Return the result of each item, or its error, in order."""
    results: dict[int, R | Exception] = {}
    for indices in batches(lengths, sizes.of):
        longest = lengths[indices[0]]
        outcomes = _forward([items[index] for index in indices], longest, forward, sizes)
        results.update(zip(indices, outcomes, strict=True))
    return [results[index] for index in range(len(items))]


def _forward(
    items: Sequence[T],
    longest: int,
    forward: Callable[[Sequence[T]], Sequence[R]],
    sizes: BatchSizes,
) -> Sequence[R | Exception]:
    try:
        return forward(items)
    except OutOfMemory as full:
        if len(items) == 1:
            return [full]
        sizes.halve(longest, len(items))
        step = len(items) // 2
    except Exception as error:  # noqa: BLE001 - returned as the result of the item
        if len(items) == 1:
            return [error]
        step = 1
    return [
        result
        for start in range(0, len(items), step)
        for result in _forward(items[start : start + step], longest, forward, sizes)
    ]


MAX_WINDOW_TOKENS = 512
"""Bound of a window; these models were trained on at most this length."""
CPU_SIZES = (1, 2, 4, 8, 16, 32, 64)
GPU_SIZES = (1, 8, 32, 64, 128, 256, 512)
TRIALS = 3

Row = np.ndarray[tuple[int], np.dtype[np.float64]]
Window = dict[str, list[int]]


class ModelUnavailable(Exception):  # noqa: N818 - recorded as the reason of every text it concerns
    """The model is not installed and cannot be downloaded."""


@dataclass(frozen=True)
class LoadedModel:
    """A loaded model with its tokenizer."""

    tokenizer: Any
    longest: int
    device: Any
    rows: Callable[[Any], Any]
    """Maps padded tokens to a tensor with one row per window."""


class ForwardPasses:
    """Runs one loaded model over texts."""

    def __init__(self, loaded: LoadedModel, *, size: int | None = None) -> None:
        self._loaded = loaded
        gpu = loaded.device.type == "cuda"
        self._trials = GPU_SIZES if gpu else CPU_SIZES
        self._sizes = BatchSizes(self._measured_size if size is None else lambda _: size)

    def size_for(self, tokens: int) -> int:
        """Return the fastest measured batch size for texts of this length."""
        return self._sizes.of(tokens)

    def over(self, texts: Sequence[str]) -> list[Row | Exception]:
        """Return one row per text, or its error.

        Long texts are cut into windows; their row is the mean of the windows, weighted by tokens.
        """
        windows: list[Window] = []
        parts: list[list[int] | Exception] = []
        for cut in self._windows(texts):
            if isinstance(cut, Exception):
                parts.append(cut)
            else:
                parts.append(list(range(len(windows), len(windows) + len(cut))))
                windows += cut
        lengths = [len(window["input_ids"]) for window in windows]
        rows = run_in_batches(windows, lengths, self._forward, self._sizes)
        return [
            part if isinstance(part, Exception) else _mean([(rows[n], lengths[n]) for n in part])
            for part in parts
        ]

    def _windows(self, texts: Sequence[str]) -> list[list[Window] | Exception]:
        """Return the windows of each text, or its error; all texts are tokenized in one call."""
        try:
            cut = self._loaded.tokenizer(
                list(texts),
                truncation=True,
                max_length=self._loaded.longest,
                stride=0,
                return_overflowing_tokens=True,
            )
        except Exception as error:  # noqa: BLE001 - returned as the result of the text
            if len(texts) == 1:
                return [error]
            return [outcome for text in texts for outcome in self._windows([text])]
        names = [name for name in self._loaded.tokenizer.model_input_names if name in cut]
        windows: list[list[Window]] = [[] for _ in texts]
        for n, text in enumerate(cut["overflow_to_sample_mapping"]):
            windows[text].append({name: cut[name][n] for name in names})
        return list(windows)

    def _forward(self, windows: Sequence[Window]) -> list[Row]:
        import torch

        columns = {name: [window[name] for window in windows] for name in windows[0]}
        padded = self._loaded.tokenizer.pad(columns, return_tensors="pt")
        try:
            with torch.inference_mode():
                rows = self._loaded.rows(padded.to(self._loaded.device)).float().cpu().numpy()
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            raise OutOfMemory from None
        return list(rows.astype(np.float64))

    def _measured_size(self, tokens: int) -> int:
        """Measure batch sizes on artificial texts of a number of tokens."""
        length = min(tokens, self._loaded.longest)
        (cut,) = self._windows(["the " * length])
        if isinstance(cut, Exception):
            raise cut
        window = {name: (values * length)[:length] for name, values in cut[0].items()}

        def seconds_for(size: int) -> float:
            batch = [window] * size
            self._forward(batch)  # warm-up for this shape
            return min(_timed(lambda: self._forward(batch)) for _ in range(TRIALS))

        return best_size(seconds_for, self._trials)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _mean(rows: Sequence[tuple[Row | Exception, int]]) -> Row | Exception:
    for row, _ in rows:
        if isinstance(row, Exception):
            return row
    stacked = np.stack([row for row, _ in rows if not isinstance(row, Exception)])
    mean: Row = np.average(stacked, axis=0, weights=[length for _, length in rows])
    return mean


RETRY_AFTER_S = 60.0
"""Time before a model that could not be loaded is tried again."""


class LazyModel:
    """A model that is loaded at its first use."""

    def __init__(
        self, model: str, load: Callable[[], LoadedModel], *, size: int | None = None
    ) -> None:
        self._model = model
        self._load = load
        self._size = size
        self._lock = Lock()
        self._passes: ForwardPasses | None = None
        self._failed_at: float | None = None
        self._why = ""

    def passes(self) -> ForwardPasses:
        """Return the forward passes; raise ModelUnavailable if the model cannot be loaded."""
        with self._lock:
            if self._passes is None:
                self._passes = self._tried()
            return self._passes

    def _tried(self) -> ForwardPasses:
        now = time.monotonic()
        if self._failed_at is not None and now - self._failed_at < RETRY_AFTER_S:
            raise ModelUnavailable(self._why)
        try:
            return ForwardPasses(self._load(), size=self._size)
        except (OSError, ValueError, ImportError) as error:
            self._failed_at = now
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            self._why = (
                f"The model {self._model} cannot be loaded: {first.rstrip('.')}."
                f" {installation_hint(self._model)}"
            )
            raise ModelUnavailable(self._why) from None


def longest_of(tokenizer: Any, config: Any) -> int:
    """Return the maximum number of tokens of a window of a model."""
    limits = [getattr(tokenizer, "model_max_length", None), MAX_WINDOW_TOKENS]
    limits.append(getattr(config, "max_position_embeddings", None))
    return min(int(limit) for limit in limits if limit)
