"""SmolLM2 on a llama.cpp server, for the tests below tests/llm (`make test-llm`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from biaswatch.shared.llm.local_models import SMOLLM2, LocalModel, gguf_file


@contextmanager
def small_model(folder: Path) -> Iterator[LocalModel]:
    """Serve SmolLM2 while the context lasts; `address()` is that of the server."""
    model = LocalModel(gguf_file(SMOLLM2), folder / "smollm2.log")
    try:
        model.address()
        yield model
    finally:
        model.stop()
