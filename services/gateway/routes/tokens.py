"""Who may read, who may spend money, and who may send production answers in."""

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
        if self._any and not self._read:
            raise HTTPException(403, "This gateway shows nothing: it has no read token.")
        self._check(self._read, authorization)

    def may_run(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse who shows no token that may start runs, where any token is set."""
        if self._any and not self._run:
            raise HTTPException(403, "This gateway starts no runs: it has no run token.")
        self._check(self._run, authorization)

    def may_ingest(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse who shows no token that may send answers in, where any token is set."""
        accepted = [*self._run, *self._ingest]
        if self._any and not accepted:
            raise HTTPException(403, "This gateway takes no responses: it has no ingest token.")
        self._check(accepted, authorization)

    @property
    def _any(self) -> bool:
        return bool(self._read or self._run or self._ingest)

    def _check(self, accepted: list[str], authorization: str | None) -> None:
        shown = (authorization or "").removeprefix("Bearer ").encode()
        if accepted and not any(secrets.compare_digest(shown, t.encode()) for t in accepted):
            raise HTTPException(
                401, "The gateway refuses the token. Set BIASWATCH_TOKEN to one it knows."
            )
