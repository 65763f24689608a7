"""The limit of open files: raised at the start, and refused where a process could not work."""

import sys

from biaswatch.shared.errors import ConfigurationError

LEAST_FILES = 256
"""Open files that a process of the platform needs."""
MAX_FILES = 65_536
"""The limit that is set where the system allows any number."""
RESERVED_FILES = 128
"""Files kept for the store, the bus and temporary files; connections of clients get the rest."""


def raised_limit(soft: int, hard: int, unlimited: int = -1) -> int:
    """Return the soft limit to set, given both limits; `unlimited` is the system's own number."""
    if soft == unlimited:
        return soft
    most = MAX_FILES if hard == unlimited else min(hard, MAX_FILES)
    return max(soft, most)


def raise_open_files() -> int:
    """Raise this process's limit of open files as far as it may be raised, and return it.

    Raises
    ------
    ConfigurationError
        The limit is too low for the platform, and cannot be raised.
    """
    if sys.platform == "win32":
        return MAX_FILES
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = raised_limit(soft, hard, resource.RLIM_INFINITY)
    if limit != soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        except (OSError, ValueError):  # some systems allow less than they say
            limit = soft
    if limit == resource.RLIM_INFINITY:
        return MAX_FILES
    if limit < LEAST_FILES:
        raise ConfigurationError(
            f"A process may open {limit} files here, and needs {LEAST_FILES}. Raise the limit:"
            " `ulimit -n 1024` in a shell, LimitNOFILE in systemd, --ulimit for containers."
        )
    return limit


def open_files_limit() -> int:
    """Return how many files this process may open."""
    if sys.platform == "win32":
        return MAX_FILES
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_FILES if soft == resource.RLIM_INFINITY else soft


def most_connections(limit: int) -> int:
    """Return how many connections of clients a process with this limit of open files may hold."""
    return max(limit - RESERVED_FILES, limit // 2)
