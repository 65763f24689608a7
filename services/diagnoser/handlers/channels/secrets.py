"""Secrets of channels: read at every use, so that a corrected file helps without a restart."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from biaswatch.services.diagnoser.domain.channels.declarations import SecretReference

MOST_BYTES = 64 * 1024


class NoSecretError(Exception):
    """A secret is not where its reference says; the sentence names the place, not the secret."""


@dataclass(frozen=True)
class Secrets:
    """Reads what references refer to."""

    folder: Path
    """The folder of the file of channels, to which paths are relative."""
    variable: Callable[[str], str | None]
    """Returns a variable of the environment."""

    def read(self, reference: SecretReference) -> str:
        """Return a secret without the white space around it.

        Raises
        ------
        NoSecretError
            It is not there, or empty, or too long to be one.
        """
        if reference.env is not None:
            found = self.variable(reference.env) or ""
        else:
            found = self._in_file(reference)
        if not found.strip():
            raise NoSecretError(f"There is nothing in {reference.in_words()}.")
        return found.strip()

    def _in_file(self, reference: SecretReference) -> str:
        path = self.folder / (reference.file or "")
        try:
            with path.open(encoding="utf-8") as file:
                found = file.read(MOST_BYTES + 1)
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not text in UTF-8"
            raise NoSecretError(f"{reference.in_words()} cannot be read ({why}).") from None
        if len(found) > MOST_BYTES:
            raise NoSecretError(f"{reference.in_words()} is too long to be a secret.")
        return found
