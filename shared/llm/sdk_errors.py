"""What an official SDK raises, as an outcome; nothing of the request is repeated, so no key is."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from shared.llm.port import CallFailed, Failure, key_refused
from shared.network import retry_after_s

TOO_LATE = "The provider did not answer in time."
_STATUSES = {
    402: Failure.QUOTA,
    408: Failure.TIMEOUT,
    409: Failure.SERVER_ERROR,  # both SDKs take a conflict for something that passes
    429: Failure.RATE_LIMITED,
}


@asynccontextmanager
async def outcomes(
    sdk: Any, root: type[Exception], key_place: str, timeout_s: float
) -> AsyncIterator[None]:
    """Bound a call in time and turn what goes wrong into CallFailed.

    `sdk` is the module: OpenAI's and Anthropic's name their errors alike. `key_place` says where
    the key is set.
    """
    try:
        # The SDK's own time-out begins anew with every byte that arrives.
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        raise CallFailed(Failure.TIMEOUT, TOO_LATE) from None
    except (root, json.JSONDecodeError, ValueError, TypeError) as error:
        raise _outcome(sdk, error, key_place) from None


def _outcome(sdk: Any, error: Exception, key_place: str) -> CallFailed:
    if isinstance(error, (sdk.AuthenticationError, sdk.PermissionDeniedError)):
        return key_refused(error.status_code, key_place)
    if isinstance(error, sdk.APITimeoutError):
        return CallFailed(Failure.TIMEOUT, TOO_LATE)
    if isinstance(error, sdk.APIConnectionError):
        return CallFailed(Failure.UNREACHABLE, "The provider cannot be reached.")
    if isinstance(error, sdk.APIStatusError):
        return _status(error)
    return CallFailed(Failure.GARBAGE, "The provider's reply could not be read.")


def _status(error: Any) -> CallFailed:
    status = int(error.status_code)
    usual = Failure.SERVER_ERROR if status >= 500 else Failure.BAD_REQUEST
    why = _STATUSES.get(status, usual)
    if status == 429 and _code(error) == "insufficient_quota":
        return CallFailed(Failure.QUOTA, "The provider's quota or credit is used up (HTTP 429).")
    if why is Failure.RATE_LIMITED:
        said = "The provider asks to be asked less often (HTTP 429)."
        return CallFailed(why, said, retry_after_s=retry_after_s(error.response.headers))
    return CallFailed(why, f"The provider answered HTTP {status}.")


def _code(error: Any) -> object:
    body = getattr(error, "body", None)
    return body.get("code") if isinstance(body, dict) else None
