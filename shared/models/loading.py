"""Loads a model when it is first needed, once; where it is not there, that is said in one way."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from shared.models.passes import LONGEST, Loaded, ModelUnavailable, Passes

TRY_AGAIN_S = 60.0
"""How long a model that could not be loaded is taken to be missing."""


class Lazy:
    """The passes of a model that is loaded when it is first asked for."""

    def __init__(self, model: str, load: Callable[[], Loaded], *, size: int | None = None) -> None:
        self._model = model
        self._load = load
        self._size = size
        self._lock = Lock()
        self._passes: Passes | None = None
        self._failed_at: float | None = None
        self._why = ""

    def passes(self) -> Passes:
        """Return the passes.

        Raises
        ------
        ModelUnavailable
            It is not on this machine, and may not or cannot be fetched.
        """
        with self._lock:
            if self._passes is None:
                self._passes = self._tried()
            return self._passes

    def _tried(self) -> Passes:
        now = time.monotonic()
        if self._failed_at is not None and now - self._failed_at < TRY_AGAIN_S:
            raise ModelUnavailable(self._why)
        try:
            return Passes(self._load(), size=self._size)
        except (OSError, ValueError, ImportError) as error:
            self._failed_at = now
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            self._why = (
                f"The model {self._model} cannot be loaded: {first} Fetch it beforehand, or set"
                " BIASWATCH_EXTRACTOR_DOWNLOAD=true."
            )
            raise ModelUnavailable(self._why) from None


def longest_of(tokenizer: Any, config: Any) -> int:
    """Return the tokens a model takes at once."""
    known = [getattr(tokenizer, "model_max_length", None), LONGEST]
    known.append(getattr(config, "max_position_embeddings", None))
    return min(int(each) for each in known if each)
