"""Who may see the pages: a browser shows a cookie where a program shows a token."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qs, quote

from fastapi import Cookie, Header, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from services.gateway.routes.rendering import HEADERS
from services.gateway.routes.tokens import Tokens

COOKIE = "biaswatch_session"
LASTS_S = 12 * 3600


class NotSignedInError(Exception):
    """Whoever asks has to sign in first, and then comes back."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where = where


@dataclass(frozen=True)
class SignIn:
    """What the form of the page says."""

    token: str
    next: str

    @classmethod
    async def of(cls, request: Request) -> "SignIn":
        """Read a form, of which anything may be missing."""
        fields = parse_qs((await request.body()).decode("utf-8", "replace"))
        return cls(fields.get("token", [""])[0], next_of(fields.get("next", ["/"])[0]))


def next_of(next: str = "/") -> str:  # noqa: A002 - the name in the address
    """Return where to go after signing in: a path of ours, never another site."""
    ours = next.startswith("/") and not next.startswith("//") and "\\" not in next
    return next if ours and next.isprintable() else "/"


class Sessions:
    """Lets browsers in that have shown a token that may read."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def signed_in(
        self,
        request: Request,
        biaswatch_session: Annotated[str | None, Cookie()] = None,
        authorization: Annotated[str | None, Header()] = None,
    ) -> None:
        """Refuse who shows neither a session nor a token, where any token is set."""
        if self._tokens.knows_session(biaswatch_session):
            return
        try:
            self._tokens.may_read(authorization)
        except HTTPException as refused:
            if refused.status_code == 401:
                raise NotSignedInError(request.url.path) from None
            raise

    def begin(self, form: SignIn, request: Request) -> Response | None:
        """Turn a token into a session, and go where the browser was going; None for no token."""
        session = self._tokens.session_of(form.token)
        if session is None:
            return None
        answer = RedirectResponse(form.next, 303, HEADERS)
        answer.set_cookie(
            COOKIE,
            session,
            max_age=LASTS_S,
            httponly=True,
            samesite="lax",
            secure=_over_tls(request),
        )
        return answer


def _over_tls(request: Request) -> bool:
    """Tell whether the browser speaks TLS, to us or to a proxy; who lies harms only itself."""
    forwarded = request.headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
    return "https" in (request.url.scheme, forwarded)


async def to_sign_in(_: Request, error: Exception) -> Response:
    """Send a browser to the page where it signs in."""
    where = error.where if isinstance(error, NotSignedInError) else "/"
    return RedirectResponse(f"/login?next={quote(where)}", 303, HEADERS)
