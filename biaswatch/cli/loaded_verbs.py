"""The verbs as typer's commands: each is loaded at its first use, and none to list them."""

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from biaswatch.cli.verbs import VERBS, Verb


class LoadedVerbs(MutableMapping[str, Any]):
    """The verbs as typer's commands, each loaded at its first use, in the order of `VERBS`."""

    def __init__(self) -> None:
        self._written = {verb.name: verb for verb in VERBS}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = loaded(self._written[name])
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._written[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)


def loaded(verb: Verb) -> Any:
    """Return a verb, or a group of verbs, as typer's command."""
    module, _, name = verb.written.partition(":")
    written = getattr(import_module(f"{__package__}.{module}"), name)
    outer = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    outer.callback()(lambda: None)
    if isinstance(written, typer.Typer):
        outer.add_typer(written)
    else:
        words = {"ignore_unknown_options": True} if verb.counts else None
        outer.command(verb.name, context_settings=words)(written)
    return typer.main.get_group(outer).commands[verb.name]


def listed() -> dict[str, Any]:
    """Return the verbs with their summaries and panels, as help lists them; none is loaded."""
    return {
        verb.name: TyperCommand(verb.name, help=verb.summary, rich_help_panel=verb.panel)
        for verb in VERBS
    }
