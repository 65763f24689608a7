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

EXPECTED = "a redaction file is a mapping with `built_in`, `patterns` or `presidio`"


class PresidioRequest(BaseModel):
    """What presidio looks for, where it is installed."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    entities: tuple[str, ...] = Field(min_length=1)
    """PERSON, LOCATION and others that presidio knows."""
    language: str = "en"
    """The language of the texts."""
    least_score: float = Field(default=0.5, ge=0, le=1)
    """How sure presidio has to be."""


class RedactionFile(BaseModel):
    """What is replaced in every text that is taken in."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    built_in: tuple[Token, ...] = ()
    """Of email, iban, card, ip_address, phone."""
    patterns: dict[Token, str] = {}
    """Regular expressions of one's own, by what stands in the text instead."""
    presidio: PresidioRequest | None = None
    """What presidio is to find, which is not installed with biaswatch."""


def nothing_redacted(text: str) -> RedactedText:
    """Return a text as it is."""
    return RedactedText(text)


def redaction_of(path: Path | None) -> Redaction:
    """Return how texts are redacted, as a file says; without one, they are not.

    Raises
    ------
    ConfigurationError
        The file cannot be read or is wrong, or presidio is wanted and not installed.
    """
    if path is None:
        return nothing_redacted
    fields = yaml_mapping(
        read_text(path, "redaction file", ConfigurationError), path, EXPECTED, ConfigurationError
    )
    wanted = checked(RedactionFile, fields, path, ConfigurationError)
    patterns = _patterns(wanted, path)
    if wanted.presidio is None:
        return lambda text: redact(text, patterns)
    return _PresidioRedaction(wanted.presidio, patterns, path)


def _patterns(wanted: RedactionFile, path: Path) -> list[Pattern]:
    if unknown := sorted(set(wanted.built_in) - set(BUILT_IN)):
        raise ConfigurationError(
            f"{path}, built_in: there is no {unknown[0]}; there are {', '.join(BUILT_IN)}."
        )
    found = [each for name, each in BUILT_IN.items() if name in wanted.built_in]
    for name, written in wanted.patterns.items():
        try:
            found.append(own_pattern(name, written))
        except ValueError as error:
            raise ConfigurationError(f"{path}, patterns, {name}: {error}.") from None
    return found


class _PresidioRedaction:
    """Patterns first, then what presidio finds in what is left."""

    def __init__(self, wanted: PresidioRequest, patterns: Sequence[Pattern], path: Path) -> None:
        try:
            analyzer = import_module("presidio_analyzer")
        except ImportError:
            raise ConfigurationError(
                f"{path}, presidio: presidio-analyzer is not installed here. Install it with a"
                " model of the language, or leave `presidio` out."
            ) from None
        self._engine: Any = analyzer.AnalyzerEngine()
        self._wanted = wanted
        self._patterns = patterns

    def __call__(self, text: str) -> RedactedText:
        redacted = redact(text, self._patterns)
        found = self._engine.analyze(
            text=redacted.text,
            language=self._wanted.language,
            entities=list(self._wanted.entities),
            score_threshold=self._wanted.least_score,
        )
        return RedactedText(*_marked(redacted.text, found, redacted.counts))


def _marked(text: str, found: Sequence[Any], counts: Counter[str]) -> tuple[str, Counter[str]]:
    """Replace findings from the last to the first; of two that overlap, the longer one."""
    ranked = sorted(found, key=lambda each: (each.start - each.end, each.start))
    taken: list[Any] = []
    for each in ranked:
        if all(each.end <= other.start or each.start >= other.end for other in taken):
            taken.append(each)
    for each in sorted(taken, key=lambda one: -one.start):
        name = each.entity_type.lower()
        text = f"{text[: each.start]}[{name}]{text[each.end :]}"
        counts[name] += 1
    return text, counts


MAPPING_EXPECTED = "a mapping file names fields: unit, groups, strata and others"


def mapping_of(
    path: Path | None, refusal: type[BiaswatchError] = ConfigurationError
) -> MappingFile:
    """Return the mapping of a file; without one, that of the conventions alone.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or something in it is no field.
    """
    if path is None:
        return MappingFile()
    fields = yaml_mapping(read_text(path, "mapping file", refusal), path, MAPPING_EXPECTED, refusal)
    return checked(MappingFile, fields, path, refusal)
