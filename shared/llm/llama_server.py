"""A llama.cpp server of one GGUF file: the process that `LocalModel` starts.

`python -m biaswatch.shared.llm.llama_server FILE PORT SLOTS SLOT_TOKENS THREADS` prints its address
once the model is loaded, and ends when its standard input is closed.
"""

import os
import sys
from typing import Any

HOST = "127.0.0.1"


def server_parameters(file: str, port: int, slots: int, slot_tokens: int, threads: int) -> Any:
    """Return llama.cpp's parameters of a server with a context of fixed size for each slot."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = file
    parameters.hostnames, parameters.port = [HOST], port
    parameters.n_parallel, parameters.n_ctx = slots, slots * slot_tokens
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.cpuparams.poll = parameters.cpuparams_batch.poll = 0  # threads wait without spinning
    parameters.ui = parameters.endpoint_slots = False
    return parameters


def main(file: str, *numbers: str) -> None:
    """Serve the file until standard input is closed."""
    import xllamacpp

    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as announcement:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # llama.cpp may print to both
        server = xllamacpp.Server(server_parameters(file, *map(int, numbers)))
        announcement.write(f"{server.listening_address}\n")
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
