"""Parts of the forms that start work: fields, filled values, and what would be started."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import yaml

from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.dashboard.start_queries import StartQueries
from biaswatch.shared.presentation.tables import Table

MAX_CHOICES = 20
"""Targets of earlier runs that are offered."""

Options = Sequence[tuple[str, str]]
"""Values with their words."""


@dataclass(frozen=True)
class FormField:
    """A field of a form."""

    name: str
    label: str
    kind: str = "text"
    """text, number, lines, choice (of one) or choices."""
    options: Options = ()
    """Values to choose from; suggestions for a text."""
    default: str = ""
    note: str = ""
    required: bool = False


@dataclass(frozen=True)
class Filled:
    """The values of a form."""

    values: Mapping[str, Sequence[str]]

    def lines(self, *names: str) -> list[str]:
        """Return the lines of some fields, each once."""
        texts = (text for name in names for text in self.values.get(name, ()))
        lines = (line.strip() for text in texts for line in text.splitlines())
        return list(dict.fromkeys(filter(None, lines)))

    def text(self, name: str) -> str:
        """Return the first line of a field; "" without one."""
        return next(iter(self.lines(name)), "")

    def query(self, **changed: object) -> str:
        """Return the values as a query, some of them changed."""
        return urlencode({**self.values, **changed}, doseq=True)

    def given(self, **names: str) -> dict[str, Any]:
        """Return the filled fields by the names that a request has for them."""
        return {key: text for key, name in names.items() if (text := self.text(name))}


@dataclass(frozen=True)
class Preview:
    """Work to be started, shown for confirmation."""

    sections: Sequence[tuple[str, Sequence[str]]]
    """Titles with sentences: calls, cost, power."""
    command: str
    definition: Mapping[str, Any]
    """The fields of the file that the command reads."""
    repeats: Table | None = None
    """The power by number of repeats, with links that choose one."""

    @property
    def yaml(self) -> str:
        """The file."""
        fields = {name: value for name, value in self.definition.items() if value}
        return str(yaml.safe_dump(fields, sort_keys=False, allow_unicode=True))


def same(values: Iterable[str]) -> Options:
    """Return values that are their own words."""
    return [(value, value) for value in values]


@dataclass(frozen=True)
class KindOptions:
    """Context and fields that the kinds share."""

    ctx: GatewayContext
    queries: StartQueries

    def is_complete(self, _filled: Filled) -> bool:
        """Tell whether what no field requires by itself is filled in."""
        return True

    def suite_field(self) -> FormField:
        """Return the choice of a suite, with what each asks."""
        suites = self.queries.suites()
        titles = [f"{suite.header.name}, {suite.probes:,} questions" for suite in suites]
        options = [
            (suite.hash, f"{title} ({suite.hash[:8]})" if titles.count(title) > 1 else title)
            for suite, title in zip(suites, titles, strict=True)
        ]
        return FormField(
            "suite", "Suite", "choice", [("", "choose a suite"), *options], required=True
        )

    def allowed(self) -> str:
        """Return which models the gateway allows."""
        patterns = self.ctx.settings.allowed_targets.patterns
        listed = "every model" if "*" in patterns else ", ".join(patterns) or "none"
        return f"provider:model; this gateway allows {listed}."

    def target_field(self, name: str, label: str, *, required: bool = True) -> FormField:
        """Return the field of one model, with those of earlier runs as suggestions."""
        known = same(self.queries.targets()[:MAX_CHOICES])
        return FormField(name, label, options=known, note=self.allowed(), required=required)
