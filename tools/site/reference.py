"""The pages of the reference, written from the code: commands, HTTP, records, settings, metrics."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from prometheus_client.metrics import MetricWrapperBase
from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typer.main import get_command

from biaswatch import services
from biaswatch.cli.application import app
from biaswatch.cli.verbs import VERBS
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared import telemetry
from biaswatch.shared.contracts import ROUTES
from biaswatch.shared.runtime.settings import Settings

_NOTHING: Any = SimpleNamespace(publish=None, scoped=lambda _: _NOTHING)
"""A store and a bus that nobody asks anything."""


def reference_pages() -> dict[str, str]:
    """Return the pages, by their paths in the site."""
    return {
        "reference/commands.md": commands(),
        "reference/http.md": operations(),
        "reference/records.md": records(),
        "reference/settings.md": settings(),
        "reference/metrics.md": metrics(),
    }


def commands() -> str:
    """Return every verb with its options."""
    root = get_command(app)
    verbs: dict[str, Any] = dict(getattr(root, "commands", {}))
    lines = ["# Commands", "", "`biaswatch --help` says the same in the terminal."]
    for panel in dict.fromkeys(verb.panel for verb in VERBS):
        lines += ["", f"## {panel}"]
        for verb in (each for each in VERBS if each.panel == panel):
            lines += _command(verbs[verb.name], f"biaswatch {verb.name}")
    return "\n".join(lines) + "\n"


def _command(command: Any, words: str) -> Iterator[str]:
    yield from ("", f"### {words}", "", _plain(command.help or ""), "")
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    if shown:
        yield from _table(("option", "what it does", "default"), map(_parameter, shown))
    for name, each in getattr(command, "commands", {}).items():
        yield from _command(each, f"{words} {name}")


def _parameter(each: Any) -> tuple[str, str, str]:
    written = each.opts if each.param_type_name == "option" else [each.name]
    given = each.default
    plain = isinstance(given, (str, int, float)) and not isinstance(given, bool) and given != ""
    names = ", ".join(f"`{name}`" for name in written)
    return names, each.help or "", f"`{given}`" if plain else ""


def operations() -> str:
    """Return every operation of the gateway."""
    document = web_app(GatewaySettings(), _NOTHING, _NOTHING).openapi()
    found = (
        (
            f"`{method.upper()} {path}`",
            operation.get("description") or operation.get("summary", ""),
            ", ".join(f"`{each['name']}`" for each in operation.get("parameters", ())),
        )
        for path, methods in sorted(document["paths"].items())
        for method, operation in methods.items()
    )
    head = "A running gateway serves this at `/docs`, and as OpenAPI at `/openapi.json`."
    table = _table(("operation", "what it does", "parameters"), found)
    return "\n".join(["# HTTP", "", head, "", *table]) + "\n"


def records() -> str:
    """Return every record on the bus with its fields."""
    lines = ["# Records", "", "What services write to one another and to the store."]
    for route in ROUTES:
        record = route.record
        lines += ["", f"## {record.kind}", "", _first_line(record.__doc__), ""]
        lines += [f"Stream `{route.stream}`; written by {', '.join(sorted(route.producers))}.", ""]
        fields = ((f"`{name}`", f.description or "") for name, f in record.model_fields.items())
        lines += _table(("field", "what it is"), fields)
    return "\n".join(lines) + "\n"


def settings() -> str:
    """Return the settings of each service, as the variables that set them."""
    head = "Variables of the environment; those in the first table are read by every service."
    lines = ["# Settings", "", head]
    common = set(Settings.model_fields)
    kinds: dict[str, type[Settings]] = {"every service": Settings, **dict(_service_settings())}
    for name, kind in kinds.items():
        own = {
            field: each
            for field, each in kind.model_fields.items()
            if kind is Settings or field not in common
        }
        if own:
            lines += ["", f"## {name}", ""]
            lines += _table(
                ("variable", "default"), (_setting(kind, *each) for each in own.items())
            )
    return "\n".join(lines) + "\n"


def _setting(kind: type[Settings], name: str, field: FieldInfo) -> tuple[str, str, str]:
    alias = field.validation_alias
    named = alias.choices[0] if isinstance(alias, AliasChoices) else alias
    variable = named or f"{kind.model_config.get('env_prefix', '')}{name}".upper()
    default = field.get_default(call_default_factory=False)
    unset = field.is_required() or default is None or default in ("", PydanticUndefined)
    shown = str(default).replace(str(Path.home()), "~")
    return f"`{variable}`", field.description or "", "" if unset else f"`{shown}`"


def _service_settings() -> Iterator[tuple[str, type[Settings]]]:
    for module in sorted(each.name for each in pkgutil.iter_modules(services.__path__)):
        found = importlib.import_module(f"biaswatch.services.{module}.settings")
        for value in vars(found).values():
            if isinstance(value, type) and issubclass(value, Settings) and value is not Settings:
                yield module, value


def metrics() -> str:
    """Return every metric with its labels."""
    made = [each for each in vars(telemetry).values() if isinstance(each, MetricWrapperBase)]
    found = (
        (f"`{family.name}`", family.type, family.documentation)
        for metric in made
        for family in metric.describe()
    )
    head = ["# Metrics", "", "Each service serves them for Prometheus at `/metrics`.", ""]
    return "\n".join([*head, *_table(("metric", "kind", "what it is"), found)]) + "\n"


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield "|" + "---|" * len(titles)
    for row in rows:
        yield f"| {' | '.join(_cell(each) for each in row)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _plain(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().partition("\n")[0]
