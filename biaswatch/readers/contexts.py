"""Contexts from files: a suite is crossed with them, and each is a level of a stratum."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from biaswatch.readers.suites import MAX_PILOT_NAME
from biaswatch.shared.contracts import Claim, Message, Role, Suite, SuiteProbe
from biaswatch.shared.contracts.derived_features import DRIFT, SEPARATOR
from biaswatch.shared.contracts.probe import turn_count, with_replies
from biaswatch.shared.contracts.suite_limits import check_suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, read_text
from biaswatch.shared.parsing.yaml_values import parse_yaml

CONTEXT = "context"
"""The stratum of contexts, and the fact of each probe."""
QUESTION = "{question}"
"""Placeholder for the question in a context that surrounds it."""
TEXTS, HISTORIES = (".md", ".txt"), (".yaml", ".json")


class _History(BaseModel):
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Context:
    """Messages before a question, or text around it."""

    name: str
    messages: tuple[Message, ...] = ()
    """A system message, or earlier messages."""
    frame: str = QUESTION
    """The text of the question's message, with `{question}` for the question."""

    def around(self, text: str) -> str:
        """Return a question within the frame."""
        return self.frame.replace(QUESTION, text)


def with_contexts(suite: Suite, folder: Path | None) -> Suite:
    """Cross a suite with the contexts of a folder, if any.

    The result has every probe in every context. Twins stay in their set, which holds all contexts.
    Gaps are also compared within each context.

    Raises
    ------
    UsageError
        The folder has no contexts, a file is invalid, or the suite has a stratum of this name.
    """
    return suite if folder is None else crossed(suite, list(read_contexts(folder)))


def crossed(suite: Suite, contexts: Sequence[Context]) -> Suite:
    """Return the suite with every probe in every context.

    Raises
    ------
    UsageError
        The suite has a stratum of this name.
    """
    if any(CONTEXT in {**probe.facts, **probe.groups} for probe in suite.probes):
        raise UsageError(f"The suite {suite.name} has a fact or a group {CONTEXT!r} already.")
    fields = {name: getattr(suite, name) for name in suite.model_fields_set} | {
        "name": f"{suite.name[:MAX_PILOT_NAME]}-in-contexts",
        "strata": (*suite.strata, CONTEXT),
        "gaps_by": (*suite.gaps_by, CONTEXT),
        "probes": [
            _in_context(probe, context, suite.claim)
            for context in contexts
            for probe in suite.probes
        ],
    }
    return check_suite(Suite.model_validate(fields))


def read_contexts(folder: Path) -> Iterator[Context]:
    """Yield the contexts of a folder, sorted by name.

    A text is a system message, or has the place `{question}`; a YAML or JSON file has the messages
    before the question. An empty file is the question alone.
    """
    if not folder.is_dir():
        raise UsageError(f"The folder of contexts {folder} does not exist.")
    files = sorted(path for path in folder.iterdir() if path.suffix in (*TEXTS, *HISTORIES))
    if not files:
        raise UsageError(f"The folder {folder} has no contexts: .md, .txt, .yaml or .json files.")
    names = set[str]()
    for file in files:
        if file.stem in names or SEPARATOR in file.stem or file.stem == DRIFT:
            raise UsageError(f"{file}: contexts need different names, without {SEPARATOR}.")
        names.add(file.stem)
        yield _context(file)


def _context(file: Path) -> Context:
    text = read_text(file, "context").strip()
    if file.suffix in HISTORIES:
        return Context(file.stem, messages=_history(file, parse_yaml(text)))
    if QUESTION in text:
        return Context(file.stem, frame=text)
    return Context(file.stem, (Message(role=Role.SYSTEM, content=text),) if text else ())


def _history(file: Path, messages: Any) -> tuple[Message, ...]:
    """Return earlier messages, with a reply to every user message."""
    history = checked(_History, {"messages": messages}, file).messages
    if turn_count(history):
        raise UsageError(f"{file}: each user message of a history needs its assistant message.")
    return history


def _in_context(probe: SuiteProbe, context: Context, claim: Claim) -> SuiteProbe:
    own_unit = probe.set is not None or claim is Claim.BANK
    update: dict[str, Any] = {
        "key": f"{probe.key}/{context.name}",
        "unit": f"{probe.unit_id}/{context.name}" if own_unit else probe.unit_id,
        "facts": {**probe.facts, CONTEXT: context.name},
    }
    if probe.variables:
        place = "material" if probe.variables.get("material") else "question"
        text = context.around(probe.variables.get(place, ""))
        update |= {"variables": {**probe.variables, place: text}, "messages": context.messages}
    else:
        update |= {"prompt": None, "messages": (*context.messages, *_framed(probe, context))}
    return SuiteProbe.model_validate(probe.model_dump() | update)


def _framed(probe: SuiteProbe, context: Context) -> Iterator[Message]:
    """Yield the messages of a probe, with the frame around its first open user message."""
    framed = False
    for message, has_reply in with_replies(probe.as_messages):
        if message.role is not Role.USER or has_reply or framed:
            yield message
            continue
        framed = True
        yield message.model_copy(update={"content": context.around(message.content)})
