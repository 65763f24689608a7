"""Extractors by name: a file of ours or yours, an installed package, or a configured model."""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, RootModel

from biaswatch.services.extractor import extractors
from biaswatch.services.extractor.domain import Extractor, Reading
from biaswatch.shared.contracts.identity import Token
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.models.device import ModelOptions

GROUP = "biaswatch.extractors"
"""The entry points an installed package names its extractors under."""


@dataclass(frozen=True)
class FunctionExtractor:
    """The extractor of a file that holds a function and says what it gives."""

    name: str
    version: str
    features: tuple[str, ...]
    instrument: str
    function: Callable[[str], Mapping[str, float | None]]

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """See `Extractor.measure`."""
        return self.function(reading.text)


def load(names: Sequence[str], folder: Path | None = None, **given: Any) -> dict[str, Extractor]:
    """Load the extractors of these names and every file of the folder, and nothing else.

    Parameters
    ----------
    names
        Each is a file of this service, or an entry point of an installed package.
    folder
        A folder of your own; the name of each file in it is an extractor's.
    given
        Settings for those extractors whose `build` takes them: `device=...`.

    Raises
    ------
    ConfigurationError
        There is no such extractor, a library it needs is not installed, or its file is not one.
    """
    files = sorted(folder.glob("[a-z]*.py")) if folder else []
    found = {name: _named(name, given) for name in names if name}
    return found | {path.stem: load_file(path, given) for path in files}


def _named(name: str, given: Mapping[str, Any]) -> Extractor:
    try:
        return extractor_of(importlib.import_module(f"{extractors.__name__}.{name}"), name, given)
    except ModuleNotFoundError as error:
        if error.name == f"{extractors.__name__}.{name}":
            return _installed(name, given)
        raise _needs(name, error) from None


def _installed(name: str, given: Mapping[str, Any]) -> Extractor:
    for point in entry_points(group=GROUP, name=name):
        try:
            return extractor_of(point.load(), name, given)
        except ModuleNotFoundError as error:
            raise _needs(name, error) from None
    raise ConfigurationError(
        f"There is no extractor {name!r}: no file services/extractor/extractors/{name}.py, and no"
        f" installed package names it under {GROUP}. Correct BIASWATCH_EXTRACTOR_NAMES."
    )


def load_file(path: Path, given: Mapping[str, Any] | None = None) -> Extractor:
    """Load the extractor of one Python file.

    Raise ConfigurationError where it cannot be read, or is no extractor.
    """
    if not path.is_file():
        raise ConfigurationError(f"There is no file {path}.")
    spec = importlib.util.spec_from_file_location(f"biaswatch_extractor_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{path} cannot be read as Python.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise _needs(path.stem, error) from None
    except Exception as error:  # noqa: BLE001 - anything may be wrong in a file of somebody else's
        raise ConfigurationError(
            f"The extractor file {path} cannot be loaded: {type(error).__name__}: {error}."
        ) from None
    return extractor_of(module, path.stem, given)


def extractor_of(source: Any, name: str, given: Mapping[str, Any] | None = None) -> Extractor:
    """Turn what was found into an extractor: a module, a `build` function, or one already.

    Raise ConfigurationError where it is none of these.
    """
    if isinstance(source, ModuleType) and not hasattr(source, "build"):
        return _one_function(source, name)
    build = source.build if isinstance(source, ModuleType) else source
    if not callable(build):
        return _checked(build)
    takes = inspect.signature(build).parameters
    return _checked(build(**{key: each for key, each in (given or {}).items() if key in takes}))


def _one_function(module: ModuleType, name: str) -> Extractor:
    try:
        version, features, function = module.VERSION, module.FEATURES, module.measure
    except AttributeError as error:
        raise ConfigurationError(
            f"The extractor {name} has no {error.name}. Its file needs VERSION = '1',"
            " FEATURES = ('one',) and def measure(text), or def build()."
        ) from None
    given = getattr(module, "INSTRUMENT", f"the file {name}.py")
    return FunctionExtractor(name, str(version), tuple(features), str(given), function)


def _checked(made: Any) -> Extractor:
    wanted = ("name", "version", "features", "instrument", "measure")
    if lacking := [each for each in wanted if not hasattr(made, each)]:
        raise ConfigurationError(
            f"{type(made).__name__} is not an extractor: it has no {' and no '.join(lacking)}."
        )
    extractor: Extractor = made
    return extractor


def _needs(name: str, error: ModuleNotFoundError) -> ConfigurationError:
    return ConfigurationError(
        f"The extractor {name} needs {error.name}, which is not installed. Install the"
        " `extractor` extra (or `models`, for models)."
    )


class ConfiguredClassifier(BaseModel):
    """One classifier."""

    model_config = ConfigDict(extra="forbid")

    model: str = Field(min_length=1, max_length=90)
    labels: dict[str, Token] = Field(min_length=1)


class ClassifierFile(RootModel[dict[Token, ConfiguredClassifier]]):
    """Classifiers by the names their extractors get."""


def configured(path: Path, models: ModelOptions) -> dict[str, Extractor]:
    """Return the extractors a file names: `name: {model: ..., labels: {label: feature}}`.

    Raise ConfigurationError where it cannot be read or understood, or the models extra is not
    installed.
    """
    text = read_text(path, "file of classifiers", ConfigurationError)
    expected = "classifiers are a mapping of names to model and labels"
    fields = yaml_mapping(text, path, expected, ConfigurationError)
    found = checked(ClassifierFile, fields, path, ConfigurationError).root
    try:
        return {name: _extractor(name, wanted, models) for name, wanted in found.items()}
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"The models in {path} need {error.name}, which is not installed. Install the `models`"
            " extra."
        ) from None


def _extractor(name: str, wanted: ConfiguredClassifier, models: ModelOptions) -> Extractor:
    # Here, because it needs the `models` extra.
    from biaswatch.services.extractor.extractors._models import classified, score_of

    formulas = {feature: score_of(label) for label, feature in wanted.labels.items()}
    return classified(name, wanted.model, formulas, models)
