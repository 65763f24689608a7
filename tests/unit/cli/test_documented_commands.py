"""Every command that a page shows can be typed: its verb, options and values are known."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from biaswatch.cli.application import app
from tests.support.documented_commands import (
    PAGES,
    ROOT,
    DocumentedCommand,
    documented_commands,
    not_run,
)

OF_BIASWATCH = [command for command in documented_commands() if command.program == "biaswatch"]
TARGET = re.compile(r"^([a-z-]+):.*##", re.MULTILINE)


def test_pages_show_many_commands() -> None:
    assert len(OF_BIASWATCH) > 60
    assert len({item.page for item in OF_BIASWATCH}) > 12


@pytest.mark.parametrize(
    "command", OF_BIASWATCH, ids=lambda command: f"{command.page}: {command.line[:60]}"
)
def test_a_documented_command_is_understood(
    command: DocumentedCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "exists", lambda _: True)  # the files that pages name are a reader's
    words = command.words[command.words.index("biaswatch") + 1 :]
    for end in ("|", ">", "<", "&&", ";"):
        words = words[: words.index(end)] if end in words else words
    context: Any = get_command(app).make_context("biaswatch", list(words))
    while hasattr(context.command, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        if not rest and context.command.invoke_without_command:
            return
        name, result, rest = context.command.resolve_command(context, rest)
        assert result is not None, f"There is no verb {name}."
        context = result.make_context(name, list(rest), parent=context)


def test_every_documented_make_target_is_in_the_makefile() -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text()))
    wanted = {
        word
        for command in documented_commands()
        if command.program == "make"
        for word in command.words
        if re.fullmatch(r"[a-z][a-z-]*", word) and word != "make"
    }
    assert wanted - targets == set()


def test_what_is_not_run_is_on_a_page_and_has_its_reason() -> None:
    commands = documented_commands()
    for item in not_run():
        assert item.page in PAGES
        assert len(item.reason.split()) > 3, item
        assert any(item.means(command) for command in commands), f"{item} is on no page any more"
