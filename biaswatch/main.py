"""Entry point of the command line: signals, imports, and errors as sentences."""

import signal
import sys

USAGE_CODE, INTERRUPTED_CODE = 2, 130


def main() -> None:
    """Run the command line; print an expected error as one sentence, without a traceback."""
    # Importing takes a moment. Until it is done, a signal may end the process at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from biaswatch.cli.application import app
    from biaswatch.shared.errors import DISK_REFUSES, BiaswatchError

    # SIGTERM and Ctrl-C stop everything in order, even if the parent shell ignores Ctrl-C.
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

        if (sentence := missing_library(error.name)) is None:
            raise
        sys.stderr.write(f"biaswatch: {sentence}\n")
        sys.exit(USAGE_CODE)
    except OSError as error:
        if error.errno not in DISK_REFUSES:
            raise
        where = f" ({error.filename})" if error.filename else ""
        sys.stderr.write(f"biaswatch: Cannot write to the disk: {error.strerror}{where}.\n")
        sys.exit(USAGE_CODE)
    except KeyboardInterrupt:  # a second Ctrl-C, while everything stops
        sys.exit(INTERRUPTED_CODE)
