"""Measures social bias of language models: `import biaswatch as bw`.

`bw.diagnose(frame, group=..., feature=...)` diagnoses a frame, `bw.table(a, b, c, d)` a 2x2 table,
`bw.measure(texts, extractors)` measures texts, `bw.run(suite, target)` asks a model, and
`bw.connect(url)` speaks with a platform elsewhere. Nothing is loaded before it is used.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biaswatch.api.assertions import assert_no_disparity
    from biaswatch.api.diagnosis import FrameDiagnosis, diagnose
    from biaswatch.api.platforms import (
        AsyncPlatform,
        ConnectedPlatform,
        FinishedRun,
        connect,
        connect_async,
        run,
        run_async,
    )
    from biaswatch.api.tables import TableFindings, measure, table

__all__ = [
    "AsyncPlatform",
    "ConnectedPlatform",
    "FinishedRun",
    "FrameDiagnosis",
    "TableFindings",
    "assert_no_disparity",
    "connect",
    "connect_async",
    "diagnose",
    "measure",
    "run",
    "run_async",
    "table",
]  # fmt: skip
_MODULES = {
    "assertions": ("assert_no_disparity",),
    "diagnosis": ("FrameDiagnosis", "diagnose"),
    "platforms": ("AsyncPlatform", "FinishedRun", "ConnectedPlatform", "connect", "connect_async",
                  "run", "run_async"),
    "tables": ("TableFindings", "measure", "table"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load what is asked for; a module of the package is found as always."""
    if name == "__version__":
        try:
            return version("biaswatch")
        except PackageNotFoundError:  # a copy of the source that nobody has installed
            return "0+unknown"
    if (module := _MODULE_OF.get(name)) is None:
        raise AttributeError(f"module 'biaswatch' has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.api.{module}"), name)


def __dir__() -> list[str]:
    """Return the names that are meant for users."""
    return sorted([*__all__, "__version__"])
