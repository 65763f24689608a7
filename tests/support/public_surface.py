"""What others rely on by name: verbs, HTTP operations, subjects, metrics, settings, tables.

`python -m tests.support.public_surface` writes it anew; its diff is what users will notice.
"""

import importlib
import json
import pkgutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fastapi import FastAPI
from prometheus_client import REGISTRY
from typer.main import get_command

from biaswatch import services
from biaswatch.cli.application import app
from biaswatch.readers.suites import load_suite
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.bus.topology import StreamLimits, durables, streams
from biaswatch.shared.contracts import ROUTES
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.store.tables import metadata

_NOTHING: Any = SimpleNamespace(publish=None, scoped=lambda _: _NOTHING)
"""A store and a bus that nobody asks anything."""
ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "tests" / "contract" / "public_surface.json"


def surface() -> dict[str, Any]:
    """Return every public name, by where it is met."""
    return {
        "command line": dict(_verbs(get_command(app), "biaswatch")),
        "http": _operations(web_app(GatewaySettings(), _NOTHING, _NOTHING)),
        "records": {
            route.record.kind: {
                "stream": route.stream,
                "subjects": route.subjects,
                "producers": sorted(route.producers),
                "identity": list(route.record.identity),
                "fields": sorted(route.record.model_fields),
            }
            for route in ROUTES
        },
        "streams": {each.name: list(each.subjects) for each in streams(StreamLimits())},
        "durables": sorted(f"{each.stream}/{each.name} {each.filter}" for each in durables()),
        "metrics": _metrics(),
        "settings": {name: sorted(_settings(name)) for name in _services()},
        "tables": {
            name: sorted(column.name for column in table.columns)
            for name, table in sorted(metadata.tables.items())
        },
        "suites": {
            str(path.relative_to(ROOT)): load_suite(path).hash
            for path in sorted((ROOT / "suites").glob("**/*.yaml"))
            if path.name != "plan.yaml" and path.parent.name != "parts"
        },
    }


def text() -> str:
    """Return the surface as it is committed."""
    return json.dumps(surface(), indent=1, sort_keys=True) + "\n"


def _verbs(command: Any, path: str) -> list[tuple[str, list[str]]]:
    found = [(path, sorted(name for each in command.params for name in each.opts))]
    for name, each in sorted(getattr(command, "commands", {}).items()):
        found += _verbs(each, f"{path} {name}")
    return found


def _operations(web: FastAPI) -> dict[str, Any]:
    document = web.openapi()
    fields = {
        ",".join(sorted(schema["properties"]))
        for schema in document["components"]["schemas"].values()
        if "properties" in schema
    }
    operations = {
        f"{method.upper()} {path}": sorted(each["name"] for each in what.get("parameters", []))
        for path, methods in document["paths"].items()
        for method, what in methods.items()
    }
    return {"operations": operations, "bodies": sorted(fields)}


def _metrics() -> dict[str, list[str]]:
    metrics: list[Any] = [m for m in REGISTRY._collector_to_names if hasattr(m, "_labelnames")]
    return {
        each._name: list(each._labelnames)
        for each in metrics
        if each._name.startswith("biaswatch_")
    }


def _services() -> list[str]:
    return sorted(each.name for each in pkgutil.iter_modules(services.__path__))


def _settings(service: str) -> set[str]:
    module = importlib.import_module(f"biaswatch.services.{service}.settings")
    return {
        field
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Settings)
        for field in each.model_fields
    }


if __name__ == "__main__":
    COMMITTED.write_text(text())
