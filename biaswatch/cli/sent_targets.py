"""Targets as they are sent to a gateway, which opens no file: what their files say goes along."""

from pathlib import Path

from biaswatch.local.recordings import kept_name
from biaswatch.readers.targets import with_file
from biaswatch.shared.contracts.providers import PROVIDERS


def sent_target(written: str, server: str | None) -> str:
    """Return a target as the gateway takes it; recorded answers are kept for one on this machine.

    Raises
    ------
    UsageError
        Its file is wrong, or cannot be read or kept.
    """
    name, _, rest = written.partition(":")
    if name not in PROVIDERS or not PROVIDERS[name].recorded:
        return with_file(written)
    here = server is None and Path(rest).is_file()
    return f"{name}:{kept_name(Path(rest))}" if here else written
