"""Secrets of channels: read at every use, so that a corrected file needs no restart."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MAX_SECRET_BYTES = 64 * 1024


class Declared(BaseModel):
    """A part of the operator's file; a misspelt word in it is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class SecretReference(Declared):
    """The place of a secret: a file, which is better, or a variable of the environment."""

    file: Path | None = None
    """The file that holds it, relative to the folder of the file of channels; read at every use."""
    env: str | None = Field(default=None, min_length=1)
    """The environment variable of the notifier with the secret."""

    @model_validator(mode="before")
    @classmethod
    def _no_secret(cls, written: object) -> object:
        if isinstance(written, str):
            sentence = "write {file: PATH} or {env: NAME} in place of the secret"
            raise ValueError(sentence)  # noqa: TRY004 - pydantic reports ValueErrors only
        return written

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.file is None) == (self.env is None):
            raise ValueError("a secret is in one place: write {file: PATH} or {env: NAME}")
        return self

    def in_words(self) -> str:
        """Return the place that it refers to."""
        return f"the file {self.file}" if self.file else f"the variable {self.env}"


class NoSecretError(Exception):
    """A secret cannot be read; the sentence names the place, never the secret."""


@dataclass(frozen=True)
class Secrets:
    """Reads the secrets that references refer to."""

    folder: Path
    """The folder of the file of channels, to which paths are relative."""
    variable: Callable[[str], str | None]
    """Returns a variable of the environment."""

    def read(self, reference: SecretReference) -> str:
        """Return a secret without the white space around it.

        Raises
        ------
        NoSecretError
            It is missing, empty, or too long.
        """
        if reference.env is not None:
            text = self.variable(reference.env) or ""
        else:
            text = self._in_file(reference)
        if not text.strip():
            raise NoSecretError(f"There is nothing in {reference.in_words()}.")
        return text.strip()

    def _in_file(self, reference: SecretReference) -> str:
        path = self.folder / (reference.file or "")
        try:
            with path.open(encoding="utf-8") as file:
                text = file.read(MAX_SECRET_BYTES + 1)
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not text in UTF-8"
            raise NoSecretError(f"{reference.in_words()} cannot be read ({why}).") from None
        if len(text) > MAX_SECRET_BYTES:
            raise NoSecretError(f"{reference.in_words()} is too long to be a secret.")
        return text
