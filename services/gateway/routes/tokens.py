"""Who may read, who may spend money, and who may send production answers in."""

import hmac
import secrets
from typing import Annotated

from fastapi import Header, HTTPException
from pydantic import SecretStr


class Tokens:
    """Who may do what: nobody needs a token where none is set."""

    def __init__(
        self, read: SecretStr | None, run: SecretStr | None, ingest: SecretStr | None = None
    ) -> None:
        self._read = [token.get_secret_value() for token in (read, run) if token]
        self._run = [run.get_secret_value()] if run else []
        self._ingest = [ingest.get_secret_value()] if ingest else []

    def may_read(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse who shows no token that may read, where any token is set."""
        if self.any_set and not self._read:
            raise HTTPException(403, "This gateway shows nothing: it has no read token.")
        self._check(self._read, authorization)

    def may_run(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse who shows no token that may start runs, where any token is set."""
        if self.any_set and not self._run:
            raise HTTPException(403, "This gateway starts no runs: it has no run token.")
        self._check(self._run, authorization)

    def may_ingest(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse who shows no token that may send answers in, where any token is set."""
        accepted = [*self._run, *self._ingest]
        if self.any_set and not accepted:
            raise HTTPException(403, "This gateway takes no responses: it has no ingest token.")
        self._check(accepted, authorization)

    def known(self, authorization: str | None) -> bool:
        """Tell whether somebody shows any of the tokens, or none is needed."""
        shown = _shown(authorization)
        everybody = [*self._read, *self._run, *self._ingest]
        return not everybody or any(_same(shown, token) for token in everybody)

    def session_of(self, token: str) -> str | None:
        """Return what a browser keeps instead of a token that may read; None for any other."""
        known = [each for each in self._read if _same(token, each)]
        return _session(token) if known else None

    def knows_session(self, shown: str | None) -> bool:
        """Tell whether a browser shows what it was given, for a token that may still read."""
        return shown is not None and any(_same(shown, _session(each)) for each in self._read)

    @property
    def any_set(self) -> bool:
        """Tell whether there is any token at all; without, everybody who gets here is trusted."""
        return bool(self._read or self._run or self._ingest)

    def _check(self, accepted: list[str], authorization: str | None) -> None:
        shown = _shown(authorization)
        if accepted and not any(_same(shown, token) for token in accepted):
            raise HTTPException(
                401, "The gateway refuses the token. Set BIASWATCH_TOKEN to one it knows."
            )


def _shown(authorization: str | None) -> str:
    return (authorization or "").removeprefix("Bearer ")


def _same(shown: str, known: str) -> bool:
    return secrets.compare_digest(shown.encode(), known.encode())


def _session(token: str) -> str:
    """Derive a session: who reads it in a browser learns no token, and a new token ends it."""
    return hmac.new(token.encode(), b"a browser's session", "sha256").hexdigest()
