"""The questions of a suite as rows, for tools that read or ask them."""

import json
from collections.abc import Iterator
from pathlib import Path

from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError
from biaswatch.written_files import write_atomically

DIRECT, QUESTIONS = "direct", "questions.jsonl"


def suite_of_single_questions(name: str) -> Suite:
    """Load a suite whose every probe is one question.

    Raises
    ------
    UsageError
        The suite does not exist, or its probes are not single questions.
    """
    suite = load_suite(Path(name))
    if any(probe.variables for probe in suite.probes):
        reason = "consist of variables that each scaffold turns into its own prompt"
    elif DIRECT not in suite.scaffolds or suite.tools:
        reason = f"need several calls (scaffold {suite.scaffolds[0]})"
    else:
        return suite
    raise UsageError(
        f"The questions of {suite.name} {reason}, and other tools ask each question once. Ask it"
        " with `biaswatch run`."
    )


def question_rows(suite: Suite) -> Iterator[dict[str, str]]:
    """Yield a row for each probe, with its groups and set for later analysis."""
    for probe in suite.probes:
        texts = [message.content for message in probe.as_messages] or probe.variables.values()
        yield {
            "key": probe.key,
            "question": "\n\n".join(texts),
            "expected": probe.expected or "",
            "set": probe.set or "",
            "unit": probe.unit_id,
            "groups": json.dumps(probe.groups),
        }


def write_questions(suite: Suite, folder: Path) -> bytes:
    """Write the rows to a file of a folder, and return its content."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in question_rows(suite))
    write_atomically(folder / QUESTIONS, text)
    return text.encode()


def identifier_of(suite: Suite) -> str:
    """Return the name of a suite's task or harness in another tool."""
    return f"biaswatch_{suite.name.replace('-', '_')}"
