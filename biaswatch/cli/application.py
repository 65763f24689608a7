"""The command line: one typer application that loads a verb at its first use."""

import sys
from collections.abc import Iterator, MutableMapping, Sequence
from contextvars import ContextVar
from difflib import get_close_matches
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any

import typer
from typer._completion_classes import completion_init
from typer.completion import shell_complete
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from biaswatch.cli.verbs import VERBS, Verb

INTERRUPTED_CODE = 130
EXTRA_ARGUMENT = "Got unexpected extra argument"
MAX_OWNERS = 3
"""Verbs that a message names for an option which another verb lacks."""
COMPLETION_VARIABLE = "_BIASWATCH_COMPLETE"
"""Set by the printed script where it asks for words: typer looks for this name."""
EXTRAS = {
    "apprise": "channels",
    "bm25s": "build",
    "datasets": "datasets",
    "duckdb": "engines",
    "lxml": "build",
    "mcp": "mcp",
    "matplotlib": "figures",
    "narwhals": "tables",
    "openpyxl": "tables",
    "opentelemetry": "telemetry",
    "pandas": "tables",
    "pyarrow": "tables",
    "pypdf": "build",
    "pysbd": "build",
    "sentence_transformers": "models",
    "torch": "models",
    "transformers": "models",
}
"""The extra of each library, by its import name."""
GLOBAL_OPTIONS = ("--server", "--token")
CONNECTION: ContextVar[tuple[str | None, str | None]] = ContextVar(
    "connection", default=(None, None)
)
"""The values of these options."""
completion_init()  # answers shells that ask for words, whichever program wrote their script


class LoadedVerbs(MutableMapping[str, Any]):
    """Verbs as typer's commands, each loaded at its first use, in their order."""

    def __init__(self, verbs: Sequence[Verb] = VERBS) -> None:
        self._verbs = {verb.name: verb for verb in verbs}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = loaded(self._verbs[name])
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._verbs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._verbs)

    def __len__(self) -> int:
        return len(self._verbs)


def loaded(verb: Verb) -> Any:
    """Return a verb, or a group of verbs, as typer's command."""
    module, _, name = verb.location.partition(":")
    written = getattr(import_module(f"{__package__}.{module}"), name)
    outer = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    outer.callback()(lambda: None)
    if isinstance(written, typer.Typer):
        outer.add_typer(written, epilog=_epilog(verb, written))
    else:
        settings = {"ignore_unknown_options": True} if verb.has_counts else None
        outer.command(verb.name, context_settings=settings, epilog=_epilog(verb, written))(written)
    return typer.main.get_group(outer).commands[verb.name]


def _epilog(verb: Verb, written: Any) -> str:
    """Return the end of the help: an example, and the other options and fields."""
    example = f"Example: biaswatch {verb.example}" if verb.example else ""
    return "\n\n".join(filter(None, [example, getattr(written, "epilog", "")]))


class LazyGroup(TyperGroup):
    """A group whose verbs are loaded at their first use; help and completion load none."""

    verbs: Sequence[Verb] = ()

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": {}})
        self.commands = LoadedVerbs(self.verbs)

    @property
    def listing(self) -> TyperGroup:
        """The group with the summaries of its verbs in place of the verbs."""
        commands: Any = {
            verb.name: TyperCommand(verb.name, help=verb.summary, rich_help_panel=verb.panel)
            for verb in self.verbs
        }
        return TyperGroup(
            name=self.name,
            commands=commands,
            help=self.help,
            params=self.params,
            epilog=self.epilog,
        )

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help from the list of verbs."""
        self.listing.format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the name of a verb or an option from the list of verbs."""
        return self.listing.shell_complete(ctx, incomplete)


class Verbs(LazyGroup):
    """The verbs; errors in options are our own sentences."""

    verbs = VERBS

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept `--server` and `--token` before and after the verb."""
        first: list[str] = []
        rest: list[str] = []
        words = iter(args)
        for word in words:
            if word in GLOBAL_OPTIONS:
                first += [word, *next(([value] for value in words), [])]
            else:
                (first if word.startswith(("--server=", "--token=")) else rest).append(word)
        return super().parse_args(ctx, [*first, *rest])

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line; print a mistake in it as one sentence."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except TyperException as mistake:
            if mistake.format_message():  # empty after the help that a command without words prints
                typer.echo(f"biaswatch: {_sentence(mistake)}", err=True)
            sys.exit(getattr(mistake, "exit_code", 1))
        except typer.Abort:
            typer.echo("Aborted.", err=True)
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("Stopped.", err=True)
            raise typer.Exit(INTERRUPTED_CODE) from None


def _sentence(mistake: Any) -> str:
    """Return a mistake in the arguments with the command that explains them."""
    from biaswatch.shared.contracts.mistakes import OURS

    if hasattr(mistake, "possibilities"):
        return _unknown_option(mistake.option_name, mistake)
    if mistake.format_message().startswith(EXTRA_ARGUMENT):
        return _extra_argument(mistake)
    message = mistake.format_message().replace(OURS, "").replace("Input should", "it must")
    message = message.rstrip(".")
    command = mistake.ctx.command_path if getattr(mistake, "ctx", None) else "biaswatch"
    end = "" if message.endswith("?") else "."
    return f"{message}{end} See `{command} --help`."


def _extra_argument(mistake: Any) -> str:
    """Return a sentence with the arguments that a command takes, and where a model is named."""
    command, path = mistake.ctx.command, mistake.ctx.command_path
    taken = [item.metavar or item.name.upper() for item in command.params if _is_argument(item)]
    takes = f"takes only {' '.join(taken)}" if taken else "takes no arguments"
    extra = mistake.format_message().partition(" (")[2].rstrip(").")
    hint = " Name models with --target." if _takes(command, "--target") else ""
    if "=" in extra and _takes(command, "--config"):
        hint = f" Repeat the option for each field: --config {extra}."
    return f"`{path}` {takes}: {extra!r} is one too many.{hint} See `{path} --help`."


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _unknown_option(option: str, mistake: Any) -> str:
    """Return a sentence with the option likely meant: a field, a similar one, or another verb's."""
    verb, field = mistake.ctx.command, option.strip("-").replace("-", "_")
    hint = ""
    if field in getattr(verb.callback, "fields", ()):
        hint = f" Write --config {field}=VALUE."
    elif similar := get_close_matches(option, mistake.possibilities or (), 1):
        hint = f" Is {similar[0]} meant?"
    elif owners := [verb.name for verb in VERBS if _takes(loaded(verb), option)]:
        listed = ", ".join(f"`{name}`" for name in owners[:MAX_OWNERS])
        hint = f" It is an option of {listed}."
    return f"No such option: {option}.{hint} See `{mistake.ctx.command_path} --help`."


def _takes(verb: Any, option: str) -> bool:
    return any(option in parameter.opts for parameter in verb.params)


app = typer.Typer(
    name="biaswatch",
    cls=Verbs,
    help="Measure social bias in large language models and keep watching it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"biaswatch {version('biaswatch')}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A gateway elsewhere, instead of this machine."),
    ] = None,
    token: Annotated[
        str | None, typer.Option(envvar="BIASWATCH_TOKEN", help="The gateway's token.")
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Measure social bias in large language models and keep watching it."""
    CONNECTION.set((server, token))
    local = {verb.name for verb in VERBS if not verb.remote}
    if server and ctx.invoked_subcommand in local:
        from biaswatch.shared.errors import UsageError

        raise UsageError(
            f"`biaswatch {ctx.invoked_subcommand}` works on this machine: leave --server out."
        )


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
    command = ctx.find_root().command
    shell_complete(command, {}, "biaswatch", COMPLETION_VARIABLE, f"source_{shell}")


def missing_library(name: str | None) -> str | None:
    """Return the sentence for a library that is not installed; None where no extra brings it."""
    library = (name or "").partition(".")[0]
    if (extra := EXTRAS.get(library)) is None:
        return None
    return (
        f"This needs {library}, which is not installed: install biaswatch with the extra `{extra}`"
        " (`make extras` in a checkout, or the wheel with this extra)."
    )
