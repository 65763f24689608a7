"""Who may do what: programs send a token, browsers a session derived from one."""

import hmac
import secrets
from typing import Annotated
from urllib.parse import quote

from fastapi import Cookie, Header, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import SecretStr

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src data:; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


COOKIE = "biaswatch_session"
SESSION_S = 12 * 3600


class NotSignedInError(Exception):
    """The browser must sign in first; it then returns to the page it wanted."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where = where


def local_path(next: str = "/") -> str:  # noqa: A002 - the name in the address
    """Return where to go after signing in: a path of this gateway, never another site."""
    ours = next.startswith("/") and not next.startswith("//") and "\\" not in next
    return next if ours and next.isprintable() else "/"


class Tokens:
    """The tokens that may read, run and ingest; without any, every request may."""

    def __init__(
        self, read: SecretStr | None, run: SecretStr | None, ingest: SecretStr | None = None
    ) -> None:
        self._read = [token.get_secret_value() for token in (read, run) if token]
        self._run = [run.get_secret_value()] if run else []
        self._ingest = [ingest.get_secret_value()] if ingest else []

    def may_read(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse a request without a token that may read, if any token is set."""
        self._check(self._read, authorization, "This gateway shows nothing: it has no read token.")

    def may_run(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse a request without a token that may start runs, if any token is set."""
        self._check(self._run, authorization, "This gateway starts no runs: it has no run token.")

    def may_ingest(self, authorization: Annotated[str | None, Header()] = None) -> None:
        """Refuse a request without a token that may ingest answers, if any token is set."""
        missing = "This gateway takes no responses: it has no ingest token."
        self._check([*self._run, *self._ingest], authorization, missing)

    def knows(self, authorization: str | None) -> bool:
        """Return whether a request has any of the tokens, or none is needed."""
        token = _token_in(authorization)
        accepted = [*self._read, *self._run, *self._ingest]
        return not accepted or any(_same(token, each) for each in accepted)

    def signed_in(
        self,
        request: Request,
        biaswatch_session: Annotated[str | None, Cookie()] = None,
        authorization: Annotated[str | None, Header()] = None,
    ) -> None:
        """Refuse a request with neither a session nor a token, if any token is set."""
        # A session ends once its token may no longer read.
        if any(_same(biaswatch_session or "", _session(each)) for each in self._read):
            return
        try:
            self.may_read(authorization)
        except HTTPException as refused:
            if refused.status_code == 401:
                raise NotSignedInError(request.url.path) from None
            raise

    def begin_session(self, token: str, page: str, request: Request) -> Response | None:
        """Return a redirect to a page that sets the session of a token; None for an unknown one."""
        if not any(_same(token, each) for each in self._read):
            return None
        # The browser uses TLS, to us or a proxy; a false header harms only itself.
        forwarded = request.headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
        response = RedirectResponse(page, 303, PAGE_HEADERS)
        response.set_cookie(
            COOKIE,
            _session(token),
            max_age=SESSION_S,
            httponly=True,
            samesite="lax",
            secure="https" in (request.url.scheme, forwarded),
        )
        return response

    @property
    def any_set(self) -> bool:
        """Return whether any token is set; without one, every request is trusted."""
        return bool(self._read or self._run or self._ingest)

    def _check(self, accepted: list[str], authorization: str | None, none_set: str) -> None:
        if self.any_set and not accepted:
            raise HTTPException(403, none_set)
        token = _token_in(authorization)
        if accepted and not any(_same(token, each) for each in accepted):
            raise HTTPException(
                401, "The gateway refuses the token. Set BIASWATCH_TOKEN to one it knows."
            )


def _token_in(authorization: str | None) -> str:
    return (authorization or "").removeprefix("Bearer ")


def _same(sent: str, known: str) -> bool:
    return secrets.compare_digest(sent.encode(), known.encode())


def _session(token: str) -> str:
    """Derive a session from a token: it does not reveal the token, and a new token ends it."""
    return hmac.new(token.encode(), b"a browser's session", "sha256").hexdigest()


async def redirect_to_login(_: Request, error: Exception) -> Response:
    """Redirect a browser to the login page."""
    where = error.where if isinstance(error, NotSignedInError) else "/"
    return RedirectResponse(f"/login?next={quote(where)}", 303, PAGE_HEADERS)
