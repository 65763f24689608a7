"""Loads extractors: built-in ones, files, entry points and configured classifiers."""

import importlib
import importlib.util
import inspect
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, RootModel

from biaswatch.services.extractor import extractors
from biaswatch.services.extractor.domain import Extractor, FunctionExtractor
from biaswatch.shared.contracts.identity import Token
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.models.device import ModelOptions

GROUP = "biaswatch.extractors"
"""The group of entry points for extractors of installed packages."""


def load(names: Sequence[str], folder: Path | None = None, **options: Any) -> dict[str, Extractor]:
    """Load the extractors of these names and of every file of a folder, and no others.

    Parameters
    ----------
    names
        Built-in extractors, or entry points of installed packages.
    folder
        A folder of your own; each file in it is an extractor named like the file.
    options
        Arguments for extractors whose `build` takes them, such as `models`.

    Raises
    ------
    ConfigurationError
        An extractor does not exist, needs a library that is not installed, or is invalid.
    """
    files = sorted(folder.glob("[a-z]*.py")) if folder else []
    loaded = {name: _by_name(name, options) for name in names if name}
    return loaded | {path.stem: load_file(path, options) for path in files}


def _by_name(name: str, options: Mapping[str, Any]) -> Extractor:
    try:
        if module := extractors.MODULES.get(name):
            source = importlib.import_module(f"{extractors.__name__}.{module}").EXTRACTORS[name]
            return extractor_of(source, name, options)
        for point in entry_points(group=GROUP, name=name):
            return extractor_of(point.load(), name, options)
    except ModuleNotFoundError as error:
        raise _missing_library(name, error) from None
    raise ConfigurationError(
        f"There is no extractor {name!r}: it is not built in, and no installed package names it"
        f" under {GROUP}. Correct BIASWATCH_EXTRACTOR_NAMES."
    )


def load_file(path: Path, options: Mapping[str, Any] | None = None) -> Extractor:
    """Load the extractor of one Python file; raise ConfigurationError if it is invalid."""
    if not path.is_file():
        raise ConfigurationError(f"There is no file {path}.")
    spec = importlib.util.spec_from_file_location(f"biaswatch_extractor_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{path} cannot be read as Python.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise _missing_library(path.stem, error) from None
    except Exception as error:  # noqa: BLE001 - a foreign file may raise anything
        raise ConfigurationError(
            f"The extractor file {path} cannot be loaded: {type(error).__name__}: {error}."
        ) from None
    return extractor_of(module, path.stem, options)


def extractor_of(source: Any, name: str, options: Mapping[str, Any] | None = None) -> Extractor:
    """Return the extractor of a module, of a `build` function, or an extractor itself.

    Raise ConfigurationError for any other source.
    """
    if isinstance(source, ModuleType) and not hasattr(source, "build"):
        return _of_function(source, name)
    build = source.build if isinstance(source, ModuleType) else source
    if callable(build):
        accepted = inspect.signature(build).parameters
        arguments = {key: value for key, value in (options or {}).items() if key in accepted}
        extractor = build(**arguments)
    else:
        extractor = build
    required = ("name", "version", "features", "instrument", "measure")
    if missing := [attribute for attribute in required if not hasattr(extractor, attribute)]:
        raise ConfigurationError(
            f"{type(extractor).__name__} is not an extractor: it has no {' and no '.join(missing)}."
        )
    checked_extractor: Extractor = extractor
    return checked_extractor


def _of_function(module: ModuleType, name: str) -> Extractor:
    try:
        version, features, function = module.VERSION, module.FEATURES, module.measure
    except AttributeError as error:
        raise ConfigurationError(
            f"The extractor {name} has no {error.name}. Its file needs VERSION = '1',"
            " FEATURES = ('one',) and def measure(text), or def build()."
        ) from None
    instrument = str(getattr(module, "INSTRUMENT", f"the file {name}.py"))
    return FunctionExtractor(name, str(version), tuple(features), instrument, function)


def _missing_library(name: str, error: ModuleNotFoundError) -> ConfigurationError:
    return ConfigurationError(
        f"The extractor {name} needs {error.name}, which is not installed. Install the"
        " `extractor` extra (or `models`, for models)."
    )


class ConfiguredClassifier(BaseModel):
    """A classifier in a file of classifiers."""

    model_config = ConfigDict(extra="forbid")

    model: str = Field(min_length=1, max_length=90)
    labels: dict[str, Token] = Field(min_length=1)


class ClassifierFile(RootModel[dict[Token, ConfiguredClassifier]]):
    """Classifiers by the name of their extractor."""


def configured(path: Path, models: ModelOptions) -> dict[str, Extractor]:
    """Load classifiers from a file of `name: {model: ..., labels: {label: feature}}`.

    Raise ConfigurationError if the file is invalid or the models extra is not installed.
    """
    text = read_text(path, "file of classifiers", ConfigurationError)
    expected = "classifiers are a mapping of names to model and labels"
    fields = yaml_mapping(text, path, expected, ConfigurationError)
    entries = checked(ClassifierFile, fields, path, ConfigurationError).root
    try:
        # Imported here, because it needs the `models` extra.
        from biaswatch.services.extractor.extractors.classifiers import classified, score_of

        return {
            name: classified(
                name,
                entry.model,
                {feature: score_of(label) for label, feature in entry.labels.items()},
                models,
            )
            for name, entry in entries.items()
        }
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"The models in {path} need {error.name}, which is not installed. Install the `models`"
            " extra."
        ) from None
