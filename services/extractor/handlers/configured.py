"""Any text classifier of Hugging Face, by a file that names it and its labels, and no code."""

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from services.extractor.domain import Extractor
from services.extractor.domain.classified import score_of
from services.extractor.extractors._models import classified
from shared.contracts.identity import Token
from shared.contracts.mistakes import first_mistake
from shared.errors import ConfigurationError
from shared.models.device import Models


class Wanted(BaseModel):
    """One classifier."""

    model_config = ConfigDict(extra="forbid")

    model: str = Field(min_length=1, max_length=90)
    labels: dict[str, Token] = Field(min_length=1)


class WantedFile(RootModel[dict[Token, Wanted]]):
    """Classifiers by the names their extractors get."""


def configured(path: Path, models: Models) -> dict[str, Extractor]:
    """Return the extractors a file names: `name: {model: ..., labels: {label: feature}}`.

    Raises
    ------
    ConfigurationError
        It cannot be read or understood, or the models extra is not installed.
    """
    found = _read(path)
    try:
        return {name: _extractor(name, wanted, models) for name, wanted in found.items()}
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"The models in {path} need {error.name}, which is not installed. Install the `models`"
            " extra."
        ) from None


def _read(path: Path) -> dict[str, Wanted]:
    try:
        return WantedFile.model_validate(yaml.safe_load(path.read_text())).root
    except OSError as error:
        raise ConfigurationError(f"The file {path} cannot be read ({error.strerror}).") from None
    except yaml.YAMLError:
        raise ConfigurationError(f"The file {path} is no YAML.") from None
    except ValidationError as error:
        said = first_mistake(error).in_words("the whole file")
        raise ConfigurationError(f"{path}: {said}.") from None


def _extractor(name: str, wanted: Wanted, models: Models) -> Extractor:
    formulas = {feature: score_of(label) for label, feature in wanted.labels.items()}
    return classified(name, wanted.model, formulas, models)
