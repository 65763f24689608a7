"""Who may read, and who may spend money."""

import secrets
from typing import Annotated

from fastapi import Header, HTTPException
from pydantic import SecretStr


class Tokens:
    """Who may do what: nobody needs a token where none is set."""

    def __init__(self, read: SecretStr | None, run: SecretStr | None) -> None:
        self._read = [token.get_secret_value() for token in (read, run) if token]
        self._run = [run.get_secret_value()] if run else []

    def may_read(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse who shows no token that may read."""
        self._check(self._read, authorization)

    def may_run(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse who shows no token that may start runs, where any token is set."""
        if self._read and not self._run:
            raise HTTPException(403, "This gateway starts no runs: it has no run token.")
        self._check(self._run, authorization)

    def _check(self, accepted: list[str], authorization: str | None) -> None:
        shown = (authorization or "").removeprefix("Bearer ").encode()
        if accepted and not any(secrets.compare_digest(shown, t.encode()) for t in accepted):
            raise HTTPException(
                401, "The gateway refuses the token. Set BIASWATCH_TOKEN to one it knows."
            )
