"""Download one file: bounded in bytes, redirected to https only."""

import time
from pathlib import Path
from urllib.parse import urljoin

import httpx2

from biaswatch.shared.errors import TransientError, UsageError

TIMEOUT_S = 60
SLOW_AFTER_S, SLOWEST_BYTES_S = 60, 1024
"""The time after which a download is given up if its mean rate is lower."""
FOUND = 200
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def download(url: str, part: Path, largest_bytes: int, *, hops: int = 0) -> None:
    """Write the file at a URL; follow at most `hops` redirects, to https only.

    Raises
    ------
    TransientError
        The server does not answer, or sends hardly anything.
    UsageError
        The status is not 200, a redirect leaves https, or the file is too large.
    """
    try:
        with httpx2.stream("GET", url, timeout=TIMEOUT_S, follow_redirects=False) as reply:
            if reply.status_code in REDIRECTS and hops:
                target = urljoin(url, reply.headers.get("location", ""))
            elif reply.status_code != FOUND:
                raise UsageError(f"{url} answered HTTP {reply.status_code}; nothing was fetched.")
            else:
                _write(reply, url, part, largest_bytes)
                return
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise TransientError(
            f"{url} cannot be fetched ({type(error).__name__}). Try again, or put the files into a"
            " folder and pass it with --from."
        ) from None
    if not target.startswith("https://"):
        raise UsageError(f"{url} redirects to {target[:200]}, not https; nothing was fetched.")
    download(target, part, largest_bytes, hops=hops - 1)


def _write(reply: httpx2.Response, url: str, part: Path, largest_bytes: int) -> None:
    size, began = 0, time.monotonic()
    with part.open("wb") as out:
        for chunk in reply.iter_bytes():
            size += len(chunk)
            if size > largest_bytes:
                raise UsageError(f"{url} is larger than the expected {largest_bytes} bytes.")
            out.write(chunk)
            elapsed_s = time.monotonic() - began
            if elapsed_s > SLOW_AFTER_S and size < SLOWEST_BYTES_S * elapsed_s:
                raise TransientError(
                    f"{url} sent {size} bytes in {elapsed_s:.0f} s, too few to go on. Try again,"
                    " or put the files into a folder and pass it with --from."
                )
