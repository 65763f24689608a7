"""Which record of a batch each output follows from, so that it goes on with its journey."""

from collections.abc import Mapping, Sequence

from biaswatch.shared.contracts import Record


def contexts_of(
    outputs: Sequence[Record], inputs: Sequence[Record], contexts: Sequence[str]
) -> list[str]:
    """Return the trace context of each output: that of the input it names, or of the only one.

    An output of a batch that names none of its inputs begins a journey of its own. Without
    contexts, nobody traces.
    """
    if not contexts:
        return [""] * len(outputs)
    if len(inputs) == 1:
        return [contexts[0]] * len(outputs)
    by_name: dict[str, str] = {}
    for record, context in zip(inputs, contexts, strict=True):
        by_name |= dict.fromkeys(_names(record), context)
    return [_context_of(each, by_name) for each in outputs]


def _names(record: Record) -> list[str]:
    """Return what others call a record: its id, and the key under which its owner sent it."""
    key = getattr(record, "key", None)
    return [record.id, key] if isinstance(key, str) else [record.id]


def _context_of(output: Record, by_name: Mapping[str, str]) -> str:
    named = [getattr(output, name) for name in type(output).identity]
    named += [each.key for each in output.embedded if hasattr(each, "key")]
    return next((by_name[each] for each in named if each in by_name), "")
