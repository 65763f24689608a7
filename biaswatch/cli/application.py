"""The command line: one typer application that loads a verb when it is asked for."""

from collections.abc import Iterator, MutableMapping
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any

import typer
from typer._completion_classes import completion_init
from typer.completion import shell_complete
from typer.core import TyperCommand, TyperGroup

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


INTERRUPTED_CODE = 130
completion_init()  # a shell that asks for words is answered, whoever wrote its script


class PlainMistakes(TyperGroup):
    """The verbs; a mistake in an option is told without the words of typer's own validation."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": {}})
        self.commands = LoadedVerbs()

    def invoke(self, ctx: Any) -> Any:
        """Carry out a verb."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as mistake:
            from biaswatch.shared.contracts.mistakes import OURS

            mistake.message = mistake.message.removeprefix(OURS)
            raise
        except KeyboardInterrupt:
            typer.echo("Stopped.", err=True)
            raise typer.Exit(INTERRUPTED_CODE) from None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help from the list of verbs: to show it, no verb is loaded."""
        TyperGroup(
            name=self.name, commands=listed(), help=self.help, params=self.params
        ).format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the name of a verb from the list of verbs, or an option."""
        names = TyperGroup(name=self.name, commands=listed(), params=self.params)
        return names.shell_complete(ctx, incomplete)


app = typer.Typer(
    name="biaswatch",
    cls=PlainMistakes,
    help="Measure social bias in large language models and keep watching it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"biaswatch {version('biaswatch')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Measure social bias in large language models and keep watching it."""


VARIABLE = "_BIASWATCH_COMPLETE"
"""Set by the printed script where it asks for words: typer looks for this name."""


class Shell(StrEnum):
    """The shells that typer writes scripts for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def completion(
    ctx: typer.Context, shell: Annotated[Shell, typer.Argument(help="The shell that you use.")]
) -> None:
    """Print what a shell needs to complete the command line: bash, zsh, fish or powershell.

    For bash: `eval "$(biaswatch completion bash)"`, in ~/.bashrc to keep it.
    """
    whole = ctx.find_root().command
    shell_complete(whole, {}, "biaswatch", VARIABLE, f"source_{shell}")


EXTRAS = {
    "apprise": "channels",
    "bm25s": "builder",
    "datasets": "datasets",
    "duckdb": "engines",
    "lxml": "builder",
    "matplotlib": "figures",
    "narwhals": "tables",
    "opentelemetry": "telemetry",
    "pandas": "tables",
    "pyarrow": "tables",
    "sentence_transformers": "models",
    "torch": "models",
    "transformers": "models",
}
"""By the name a library is imported by."""


def missing_library(name: str | None) -> str | None:
    """Return the sentence for a library that is not installed; None where no extra brings it."""
    library = (name or "").partition(".")[0]
    if (extra := EXTRAS.get(library)) is None:
        return None
    return (
        f"This needs {library}, which is not installed: install biaswatch with the extra `{extra}`"
        f' (pip install "biaswatch[{extra}]"; in a checkout, make extras).'
    )
