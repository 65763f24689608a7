"""Where the command line begins: signals, loading, and errors as sentences."""

import errno
import signal
import sys

USAGE_CODE, INTERRUPTED_CODE = 2, 130
DISK_REFUSES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
"""What is nobody's mistake in the code."""


def main() -> None:
    """Run the command line; an expected error is one sentence, never a traceback."""
    # Loading takes a moment. A signal in it ends the process at once: nothing has started yet.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from biaswatch.cli.application import app
    from biaswatch.shared.errors import BiaswatchError

    # SIGTERM does what Ctrl-C does: everything stops in order. So does Ctrl-C where the shell that
    # started this process had it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        app()
    except BiaswatchError as error:
        from biaswatch.render.terminal import printable

        sys.stderr.write(f"biaswatch: {printable(str(error))}\n")
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        from biaswatch.cli.application import missing_library

        if (said := missing_library(error.name)) is None:
            raise
        sys.stderr.write(f"biaswatch: {said}\n")
        sys.exit(USAGE_CODE)
    except OSError as error:
        if error.errno not in DISK_REFUSES:
            raise
        where = f" ({error.filename})" if error.filename else ""
        sys.stderr.write(f"biaswatch: The disk refuses to be written: {error.strerror}{where}.\n")
        sys.exit(USAGE_CODE)
    except KeyboardInterrupt:  # a second Ctrl-C, while everything stops
        sys.exit(INTERRUPTED_CODE)
