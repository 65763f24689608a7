"""Where models run, and whether they may be fetched."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from biaswatch.shared.errors import ConfigurationError

DeviceName = Literal["auto", "cpu", "cuda"]


@dataclass(frozen=True)
class ModelOptions:
    """What every model of a process is loaded with."""

    device: DeviceName = "auto"
    download: bool = False
    """Whether a model that is not on this machine may be fetched."""

    def __post_init__(self) -> None:
        if self.device == "cuda" and find_spec("torch") and not _has_gpu():
            raise ConfigurationError(
                "BIASWATCH_EXTRACTOR_DEVICE is cuda, and torch finds no GPU here. Set it to auto,"
                " or install a torch for this GPU."
            )

    def require(self) -> None:
        """Raise ModuleNotFoundError where a library of the `models` extra is not installed."""
        for name in ("torch", "transformers"):
            if find_spec(name) is None:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    def torch_device(self) -> Any:
        """Return the torch device."""
        import torch

        on_gpu = self.device == "cuda" or (self.device == "auto" and _has_gpu())
        return torch.device("cuda" if on_gpu else "cpu")

    def precision(self) -> Any:
        """Return the type of numbers: half as wide on a GPU, where it is twice as fast."""
        import torch

        return torch.float16 if self.torch_device().type == "cuda" else torch.float32


def _has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())
