"""The process of a local model without a model: announces an address, is busy, then healthy.

Arguments as of `biaswatch.shared.llm.llama_server`. A file that contains "broken" is refused with a
line in the log; POST /die ends the process.
"""

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BUSY_REPLIES = 2


class ScriptedHealth(BaseHTTPRequestHandler):
    """Answers /health with 503 at first, as llama.cpp does while it loads."""

    asked = 0

    def do_GET(self) -> None:
        """Answer /health."""
        ScriptedHealth.asked += 1
        self.send_response(503 if ScriptedHealth.asked <= BUSY_REPLIES else 200)
        self.end_headers()

    def do_POST(self) -> None:
        """End the process."""
        os._exit(9)


def main(file: str, port: str, *_: str) -> None:
    """Serve until standard input is closed."""
    if "broken" in Path(file).read_text():
        sys.exit("the file is no GGUF")
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), ScriptedHealth)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
