"""Pages of the reference from the code: commands, HTTP, files, records, settings, metrics."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from prometheus_client.metrics import MetricWrapperBase
from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typer.main import get_command

from biaswatch import services
from biaswatch.building.settings import BuilderSettings
from biaswatch.cli.application import app
from biaswatch.cli.verbs import VERBS
from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared import telemetry
from biaswatch.shared.contracts import ROUTES
from biaswatch.shared.contracts.descriptions import field_docstrings
from biaswatch.shared.runtime.settings import Settings
from tools.site import catalogues
from tools.site.pages import llms_index
from tools.site.tables import first_line, table

_NOTHING: Any = SimpleNamespace(publish=None, scoped=lambda _: _NOTHING)
"""A store and a bus without content."""


def reference_pages() -> dict[str, str]:
    """Return the pages, by their paths in the site."""
    pages = {"http": operations()} | committed_pages()
    return {f"reference/{name}.md": text for name, text in pages.items()}


def committed_pages() -> dict[str, str]:
    """Return the pages that are also in the repository, by name."""
    return {
        "commands": commands(),
        "files": catalogues.files(),
        "simulator": catalogues.simulator(),
        "records": records(),
        "settings": settings(),
        "limits": catalogues.limits(),
        "suites": catalogues.suites(),
        "formats": catalogues.formats(),
        "columns": catalogues.columns(),
        "metrics": metrics(),
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
        yield from table(("option", "what it does", "default"), map(_parameter, parameters))
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
    lines = table(("operation", "what it does", "parameters"), rows)
    return "\n".join(["# HTTP", "", head, "", *lines]) + "\n"


def records() -> str:
    """Return every record on the bus with its fields."""
    lines = ["# Records", "", "Services write them to each other and to the store."]
    for route in ROUTES:
        record = route.record
        lines += ["", f"## {record.kind}", "", first_line(record.__doc__), ""]
        readers = f"; read by {', '.join(route.consumers)}" if route.consumers else ""
        writers = ", ".join(sorted(route.producers))
        lines += [f"Stream `{route.stream}`; written by {writers}{readers}.", ""]
        texts = field_docstrings(record)
        fields = ((f"`{name}`", texts.get(name, "")) for name in record.model_fields)
        lines += table(("field", "what it is"), fields)
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
            lines += table(
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
    yield "builder", BuilderSettings
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
    return "\n".join([*head, *table(("metric", "labels", "what it is"), rows)]) + "\n"


def _plain(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


if __name__ == "__main__":
    for name, text in committed_pages().items():
        Path("docs", "reference", f"{name}.md").write_text(text, encoding="utf-8")
    Path("llms.txt").write_text(llms_index(Path("docs")), encoding="utf-8")
