"""Measure social bias of language models: `import biaswatch as bw`.

`bw.diagnose(frame, group=..., feature=...)` diagnoses a frame, `bw.table(a, b, c, d)` a 2x2 table,
`bw.measure(texts, extractors)` measures texts, `bw.run(suite, target)` asks a model,
`bw.search(target, space)` looks for bias anywhere in a space of scenarios, and
`bw.connect(url)` talks to a platform elsewhere. Names are loaded at their first use.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biaswatch.api.assertions import assert_no_disparity
    from biaswatch.api.diagnosis import diagnose
    from biaswatch.api.frame_diagnosis import FrameDiagnosis
    from biaswatch.api.judges import Judge, judge
    from biaswatch.api.platforms import (
        AsyncPlatform,
        ConnectedPlatform,
        FinishedRun,
        connect,
        connect_async,
        run,
        run_async,
    )
    from biaswatch.api.searches import search, search_async
    from biaswatch.api.tables import TableFindings, measure, metric, table
    from biaswatch.shared.contracts import Suite
    from biaswatch.shared.errors import UsageError

__all__ = [
    "AsyncPlatform",
    "ConnectedPlatform",
    "FinishedRun",
    "FrameDiagnosis",
    "Judge",
    "Suite",
    "TableFindings",
    "UsageError",
    "assert_no_disparity",
    "connect",
    "connect_async",
    "diagnose",
    "judge",
    "measure",
    "metric",
    "run",
    "run_async",
    "search",
    "search_async",
    "table",
]
_PLATFORM_NAMES = (
    *("AsyncPlatform", "ConnectedPlatform", "FinishedRun"),
    *("connect", "connect_async", "run", "run_async"),
)
_MODULE_OF = {
    "assert_no_disparity": "api.assertions",
    "FrameDiagnosis": "api.frame_diagnosis",
    "diagnose": "api.diagnosis",
    **dict.fromkeys(("Judge", "judge"), "api.judges"),
    **dict.fromkeys(_PLATFORM_NAMES, "api.platforms"),
    **dict.fromkeys(("search", "search_async"), "api.searches"),
    **dict.fromkeys(("TableFindings", "measure", "metric", "table"), "api.tables"),
    "Suite": "shared.contracts",
    "UsageError": "shared.errors",
}


def __getattr__(name: str) -> Any:
    """Load a public name; modules of the package are found as usual."""
    if name == "__version__":
        try:
            return version("biaswatch")
        except PackageNotFoundError:  # a copy of the source that is not installed
            return "0+unknown"
    if (module := _MODULE_OF.get(name)) is None:
        raise AttributeError(f"module 'biaswatch' has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted([*__all__, "__version__"])
