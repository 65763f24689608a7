"""The command line: one typer application that loads a verb when it is asked for."""

from typing import Annotated, Any

import typer
from typer._completion_classes import completion_init
from typer.core import TyperGroup

from biaswatch.cli.loaded_verbs import LoadedVerbs, listed

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
