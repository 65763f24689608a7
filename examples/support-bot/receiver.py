"""Print what a webhook gets: a stand-in for your chat or pager.

python examples/support-bot/receiver.py [PORT]
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Receiver(BaseHTTPRequestHandler):
    """Prints the text of each message."""

    def do_POST(self) -> None:
        """Print the message and accept it."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        print(json.loads(body)["text"], flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing beside the messages."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
    HTTPServer(("127.0.0.1", port), Receiver).serve_forever()
