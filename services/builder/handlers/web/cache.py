"""Pages that were fetched are kept, so that building again asks nobody."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path

from services.builder.handlers.web.fetching import Page


class PageCache:
    """Keeps pages by their address, each in a file; builds may share it."""

    def __init__(self, folder: Path, days: float, *, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._age = timedelta(days=days)
        self._now = now

    def get(self, url: str) -> Page | None:
        """Return the page, if it was kept and is not too old; a damaged file is as good as none."""
        try:
            kept = json.loads(self._file(url).read_text(encoding="utf-8"))
            if self._now() - datetime.fromisoformat(kept["at"]) < self._age:
                return Page(**kept["page"])
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return None

    def keep(self, url: str, page: Page) -> None:
        """Keep a page; another process never reads half of it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        kept = {"asked": url, "at": self._now().isoformat(), "page": asdict(page)}
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=self._folder, delete=False
        ) as file:
            json.dump(kept, file)
        os.replace(file.name, self._file(url))  # noqa: PTH105 - it replaces in one step

    def _file(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()}.json"
