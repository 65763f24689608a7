"""Pages of the reference from the code: commands, HTTP, records, settings, metrics."""

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
from tools.site.pages import llms_index

_NOTHING: Any = SimpleNamespace(publish=None, scoped=lambda _: _NOTHING)
"""A store and a bus without content."""


COMMITTED = ("reference/settings.md", "reference/metrics.md")
"""Pages that are also in the repository, where other pages link to them."""


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
        for verb in VERBS:
            if verb.panel == panel:
                lines += _command(verbs[verb.name], f"biaswatch {verb.name}")
    return "\n".join(lines) + "\n"


def _command(command: Any, words: str) -> Iterator[str]:
    yield from ("", f"### {words}", "", _plain(command.help or ""), "")
    parameters = [p for p in command.params if not getattr(p, "hidden", False)]
    if parameters:
        yield from _table(("option", "what it does", "default"), map(_parameter, parameters))
    for name, subcommand in getattr(command, "commands", {}).items():
        yield from _command(subcommand, f"{words} {name}")


def _parameter(parameter: Any) -> tuple[str, str, str]:
    option = parameter.param_type_name == "option"
    names = parameter.opts if option else [parameter.name]
    default = parameter.default
    shown = isinstance(default, (str, int, float)) and not isinstance(default, bool)
    shown = shown and default != ""
    text = ", ".join(f"`{name}`" for name in names)
    return text, parameter.help or "", f"`{default}`" if shown else ""


def operations() -> str:
    """Return every operation of the gateway."""
    document = web_app(GatewaySettings(), _NOTHING, _NOTHING).openapi()
    rows = (
        (
            f"`{method.upper()} {path}`",
            operation.get("description") or operation.get("summary", ""),
            ", ".join(f"`{parameter['name']}`" for parameter in operation.get("parameters", ())),
        )
        for path, methods in sorted(document["paths"].items())
        for method, operation in methods.items()
    )
    head = "A running gateway serves this at `/docs`, and as OpenAPI at `/openapi.json`."
    table = _table(("operation", "what it does", "parameters"), rows)
    return "\n".join(["# HTTP", "", head, "", *table]) + "\n"


def records() -> str:
    """Return every record on the bus with its fields."""
    lines = ["# Records", "", "Services write them to each other and to the store."]
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
    classes: dict[str, type[Settings]] = {"every service": Settings, **dict(_service_settings())}
    for name, cls in classes.items():
        own = {
            field: info
            for field, info in cls.model_fields.items()
            if cls is Settings or field not in common
        }
        if own:
            lines += ["", f"## {name}", ""]
            lines += _table(
                ("variable", "what it does", "default"),
                (_setting(cls, *item) for item in own.items()),
            )
    return "\n".join(lines) + "\n"


def _setting(cls: type[Settings], name: str, field: FieldInfo) -> tuple[str, str, str]:
    alias = field.validation_alias
    named = alias.choices[0] if isinstance(alias, AliasChoices) else alias
    variable = named or f"{cls.model_config.get('env_prefix', '')}{name}".upper()
    default = field.get_default(call_default_factory=False)
    unset = field.is_required() or default is None or default in ("", PydanticUndefined)
    shown = str(default).replace(str(Path.home()), "~")
    return f"`{variable}`", field.description or "", "" if unset else f"`{shown}`"


def _service_settings() -> Iterator[tuple[str, type[Settings]]]:
    for name in sorted(module.name for module in pkgutil.iter_modules(services.__path__)):
        settings_module = importlib.import_module(f"biaswatch.services.{name}.settings")
        for value in vars(settings_module).values():
            if isinstance(value, type) and issubclass(value, Settings) and value is not Settings:
                yield name, value


def metrics() -> str:
    """Return every metric with its labels."""
    rows = (
        (
            f"`{family.name}{'_total' if family.type == 'counter' else ''}`",
            ", ".join(metric._labelnames),  # noqa: SLF001 - describe() has no labels
            family.documentation,
        )
        for metric in vars(telemetry).values()
        if isinstance(metric, MetricWrapperBase)
        for family in metric.describe()
    )
    head = ["# Metrics", "", "Each service serves them for Prometheus at `/metrics`.", ""]
    return "\n".join([*head, *_table(("metric", "labels", "what it is"), rows)]) + "\n"


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield "|" + "---|" * len(titles)
    for row in rows:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _plain(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().partition("\n")[0]


if __name__ == "__main__":
    for name in COMMITTED:
        Path("docs", name).write_text(reference_pages()[name], encoding="utf-8")
    Path("llms.txt").write_text(llms_index(Path("docs")), encoding="utf-8")
