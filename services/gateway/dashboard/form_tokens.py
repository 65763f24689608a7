"""Tokens against forged forms: a page's form and a cookie that no other site can read or send."""

import hmac
import secrets
from hashlib import sha256

FORM_COOKIE = "biaswatch_form"
FORM_FIELD = "form_token"


def new_secret() -> str:
    """Return what a browser keeps in the cookie."""
    return secrets.token_urlsafe(32)


def form_token(secret: str, action: str) -> str:
    """Return the token of a form that does one thing, for a browser with this secret."""
    return hmac.new(secret.encode(), action.encode(), sha256).hexdigest()


def is_ours(secret: str | None, action: str, given: str) -> bool:
    """Tell whether a form was on a page that this browser was shown, and for this action."""
    if not secret:
        return False
    return hmac.compare_digest(form_token(secret, action).encode(), given.encode())
