"""The options that a probe offers."""

from biaswatch.shared.contracts import Probe
from biaswatch.shared.parsing.options import option_texts

OPTION = "option:"
"""Prefix of the variables of a probe that hold its options."""


def options_of(probe: Probe) -> dict[str, str] | None:
    """Return the text of each option of a probe, "" where it is unknown; None without options."""
    variables = {
        name.removeprefix(OPTION): text
        for name, text in probe.variables.items()
        if name.startswith(OPTION)
    }
    declared = probe.requested.options if probe.requested else ()
    if not declared:
        return variables or None
    prompt = "\n".join(message.content for message in probe.messages)
    texts = {**option_texts(prompt, declared), **variables}
    return {letter: texts.get(letter, "") for letter in declared}
