"""Files that configure intake: redaction, and attributes of spans."""

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from biaswatch.shared.contracts.identity import Token
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.errors import BiaswatchError, ConfigurationError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.parsing.redaction import BUILT_IN, Pattern, RedactedText, own_pattern, redact
from biaswatch.shared.requests.traffic import Redaction

REDACTION_FORM = "a redaction file is a mapping with `built_in`, `patterns` or `presidio`"
MAPPING_FORM = "a mapping file names fields: unit, groups, strata and others"


class PresidioRequest(BaseModel):
    """Entities that presidio detects, if it is installed."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    entities: tuple[str, ...] = Field(min_length=1)
    """Names of presidio: PERSON, LOCATION and others."""
    language: str = "en"
    """The language of the texts."""
    least_score: float = Field(default=0.5, ge=0, le=1)
    """Minimum confidence of presidio."""


class RedactionFile(BaseModel):
    """Patterns that are replaced in every accepted text."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    built_in: tuple[Token, ...] = ()
    """Any of email, iban, card, ip_address, phone."""
    patterns: dict[Token, str] = {}
    """Own regular expressions, by the word that replaces their matches."""
    presidio: PresidioRequest | None = None
    """Entities for presidio, which is not installed with biaswatch."""


def not_redacted(text: str) -> RedactedText:
    """Return a text as it is."""
    return RedactedText(text)


def redaction_of(path: Path | None) -> Redaction:
    """Return the redaction that a file declares; without a file, texts are unchanged.

    Raises
    ------
    ConfigurationError
        The file cannot be read or is wrong, or names presidio, which is not installed.
    """
    if path is None:
        return not_redacted
    fields = yaml_mapping(
        read_text(path, "redaction file", ConfigurationError),
        path,
        REDACTION_FORM,
        ConfigurationError,
    )
    file = checked(RedactionFile, fields, path, ConfigurationError)
    patterns = _patterns(file, path)
    if file.presidio is None:
        return lambda text: redact(text, patterns)
    return _PresidioRedaction(file.presidio, patterns, path)


def _patterns(file: RedactionFile, path: Path) -> list[Pattern]:
    if unknown := sorted(set(file.built_in) - set(BUILT_IN)):
        raise ConfigurationError(
            f"{path}, built_in: there is no {unknown[0]}; there are {', '.join(BUILT_IN)}."
        )
    patterns = [pattern for name, pattern in BUILT_IN.items() if name in file.built_in]
    for name, expression in file.patterns.items():
        try:
            patterns.append(own_pattern(name, expression))
        except ValueError as error:
            raise ConfigurationError(f"{path}, patterns, {name}: {error}.") from None
    return patterns


class _PresidioRedaction:
    """Redacts patterns first, then the entities of presidio in the rest."""

    def __init__(self, request: PresidioRequest, patterns: Sequence[Pattern], path: Path) -> None:
        try:
            analyzer = import_module("presidio_analyzer")
        except ImportError:
            raise ConfigurationError(
                f"{path}, presidio: presidio-analyzer is not installed here. Install it with a"
                " model of the language, or leave `presidio` out."
            ) from None
        self._engine: Any = analyzer.AnalyzerEngine()
        self._request = request
        self._patterns = patterns

    def __call__(self, text: str) -> RedactedText:
        redacted = redact(text, self._patterns)
        entities = self._engine.analyze(
            text=redacted.text,
            language=self._request.language,
            entities=list(self._request.entities),
            score_threshold=self._request.least_score,
        )
        return RedactedText(*_replace(redacted.text, entities, redacted.counts))


def _replace(text: str, entities: Sequence[Any], counts: Counter[str]) -> tuple[str, Counter[str]]:
    """Replace entities by their names; if two overlap, the longer one."""
    kept: list[Any] = []
    for entity in sorted(entities, key=lambda e: (e.start - e.end, e.start)):
        if all(entity.end <= other.start or entity.start >= other.end for other in kept):
            kept.append(entity)
    for entity in sorted(kept, key=lambda e: -e.start):
        name = entity.entity_type.lower()
        text = f"{text[: entity.start]}[{name}]{text[entity.end :]}"
        counts[name] += 1
    return text, counts


def mapping_of(
    path: Path | None, refusal: type[BiaswatchError] = ConfigurationError
) -> MappingFile:
    """Return the mapping of a file; without a file, an empty one.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or something in it is not a field.
    """
    if path is None:
        return MappingFile()
    fields = yaml_mapping(read_text(path, "mapping file", refusal), path, MAPPING_FORM, refusal)
    return checked(MappingFile, fields, path, refusal)
