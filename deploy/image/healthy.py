"""Tell the container engine whether the service in this container takes work."""

import os
import sys
import urllib.error
import urllib.request

PORT = os.environ.get("BIASWATCH_HEALTH_PORT") or "9797"  # noqa: TID251 - a program of its own
URL = os.environ.get("BIASWATCH_HEALTH_URL") or f"http://127.0.0.1:{PORT}/readyz"  # noqa: TID251

try:
    with urllib.request.urlopen(URL, timeout=3):  # noqa: S310 - the address is our own
        sys.exit(0)
except urllib.error.HTTPError as answer:
    sys.exit(f"{URL} answers {answer.code}: {answer.read(400).decode(errors='replace')}")
except OSError as problem:
    sys.exit(f"{URL} does not answer: {problem}")
