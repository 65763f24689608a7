"""The search for garbage waits while much is made that is kept."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Put off the search for reference cycles: among a round's records it finds none.

    Each search looks at every object that was made so far, which takes as long as closing a round.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
