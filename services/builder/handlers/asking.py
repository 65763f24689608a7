"""Who answers the builder's questions: a port, and the answers somebody wrote beforehand."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from services.builder.domain.model_questions import ModelQuestion
from shared.errors import UsageError


@dataclass(frozen=True)
class ModelReply:
    """What came of a question."""

    text: str | None
    """What was said, if anything was."""
    reason: str | None = None
    """Why nothing was said."""


class LanguageModel(Protocol):
    """Puts questions."""

    name: str
    """Who answers, as the suite says it."""

    async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
        """Return a reply to every question, in their order."""


class NoModel:
    """Answers nothing: for plans that ask nothing."""

    name = "nobody"

    async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
        """Say that nobody is there."""
        return [ModelReply(None, "nobody is asked") for _ in questions]


class ScriptedModel:
    """Answers with what was written beforehand, a line for each question."""

    name = "a script: no model was asked"

    def __init__(self, file: Path) -> None:
        self._replies = _read(file)

    async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
        """Return the written replies; what was not written is a reply that is missing."""
        return [self._reply(question) for question in questions]

    def _reply(self, question: ModelQuestion) -> ModelReply:
        written = self._replies.get((question.kind, question.about), [])
        if question.attempt < len(written):
            return ModelReply(written[question.attempt])
        return ModelReply(None, "nothing is written for it in the script")


def _read(file: Path) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The script {file} cannot be read: {error}.") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            replies = found.setdefault((str(entry["kind"]), str(entry["about"])), [])
            replies.append(str(entry["reply"]))
        except (ValueError, TypeError, KeyError):
            raise UsageError(
                f"{file}, line {number}: a reply is a JSON object with kind, about and reply."
            ) from None
    return found
