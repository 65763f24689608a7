"""Where the command line begins: signals, loading, and errors as sentences."""

import signal
import sys

INTERRUPTED_CODE = 130


def main() -> None:
    """Run the command line; a mistake of the user ends in one sentence, never in a traceback."""
    # Loading takes a moment. Whoever ends us then ends us at once: nothing has begun.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from biaswatch.cli.application import app
    from biaswatch.render.tables import printable
    from shared.errors import BiaswatchError

    # Whoever ends us politely gets what Ctrl-C gets, also where a shell started us with it ignored:
    # everything is stopped in its order.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        app()
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {printable(str(error))}\n")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:  # a second Ctrl-C, while the first one was being followed
        sys.exit(INTERRUPTED_CODE)
