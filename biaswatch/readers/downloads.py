"""One file from the web: bounded, whole or not at all, never led on to anything but https."""

from pathlib import Path
from urllib.parse import urljoin

import httpx2

from biaswatch.shared.errors import TransientError, UsageError

TIMEOUT_S = 60
FOUND = 200
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def download(url: str, part: Path, largest_bytes: int, *, hops: int = 0) -> None:
    """Write what an address serves; at most so many redirects, all to https, are followed.

    Raises
    ------
    TransientError
        It does not answer.
    UsageError
        It answers something else, or more than may be.
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
            " folder and name it with --from."
        ) from None
    if not target.startswith("https://"):
        raise UsageError(f"{url} leads to {target[:200]}, which is not https; nothing was fetched.")
    download(target, part, largest_bytes, hops=hops - 1)


def _write(reply: httpx2.Response, url: str, part: Path, largest_bytes: int) -> None:
    size = 0
    with part.open("wb") as out:
        for chunk in reply.iter_bytes():
            size += len(chunk)
            if size > largest_bytes:
                raise UsageError(f"{url} is larger than {largest_bytes} bytes; it is not the file.")
            out.write(chunk)
