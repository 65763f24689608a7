"""The options that a probe offers."""

from biaswatch.shared.contracts import Probe
from biaswatch.shared.parsing.options import option_texts


def options_of(probe: Probe) -> dict[str, str] | None:
    """Return the text of each declared option, "" where it is unknown; None without options."""
    declared = probe.requested.options if probe.requested else ()
    if not declared:
        return None
    prompt = "\n".join(message.content for message in probe.messages)
    texts = option_texts(prompt, declared)
    return {letter: texts.get(letter, "") for letter in declared}
