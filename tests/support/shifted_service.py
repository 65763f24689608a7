"""A service on a clock that a test turns: `python -m tests.support.shifted_service NAME`.

The file named by the second argument holds how many seconds its clock is ahead.
"""

import sys
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any

from biaswatch.shared.runtime.process import serve


def shifted(file: Path) -> type[datetime]:
    """Return a clock that is read as `datetime` is."""

    class Shifted(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            """Read it."""
            ahead_s = float(file.read_text() or 0)
            return datetime.now(tz) + timedelta(seconds=ahead_s)

    return Shifted


def main() -> int:
    """Run the service; its composition root is where every service reads the clock."""
    name, file = sys.argv[1], Path(sys.argv[2])
    app = import_module(f"biaswatch.services.{name}.app")
    build: Callable[..., Any] = vars(app)["build"]
    if "datetime" in vars(app):
        vars(app)["datetime"] = shifted(file)
    [settings] = [
        value
        for key, value in vars(app).items()
        if key.endswith("Settings") and key.lower() == f"{name}settings"
    ]
    return serve(settings, build)


if __name__ == "__main__":
    sys.exit(main())
