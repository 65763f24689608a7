"""The tutorial for a live chatbot: made-up answers raise an alarm that reaches a webhook."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from biaswatch.shared.runtime.web import free_port
from tests.support.commands import CommandLine
from tests.support.waiting import until

FOLDER = Path(__file__).parents[2] / "examples" / "support-bot"

pytestmark = pytest.mark.slow


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Return the address of the receiver of the example, and the file of what it prints."""
    port, printed = free_port("127.0.0.1"), tmp_path / "received.txt"
    command = [sys.executable, str(FOLDER / "receiver.py"), str(port)]
    with printed.open("w") as file, subprocess.Popen(command, stdout=file) as process:
        yield f"http://127.0.0.1:{port}", printed
        process.terminate()


def test_a_gap_in_the_answers_of_a_bot_reaches_the_channel(
    tmp_path: Path, receiver: tuple[str, Path]
) -> None:
    address, printed = receiver
    command = CommandLine(
        tmp_path / "state",
        TEAM_WEBHOOK=address,
        BIASWATCH_NOTIFIER_CHANNELS_FILE=str(FOLDER / "channels.yaml"),
    )
    with command.up():
        tried = command("channels", "test", "team")
        assert tried.returncode == 0, tried.stderr
        applied = command("monitor", "apply", str(FOLDER / "monitor.yaml"))
        assert applied.returncode == 0, applied.stderr
        url = json.loads((tmp_path / "state" / "platform.json").read_text())["url"]
        batch = subprocess.check_output([sys.executable, str(FOLDER / "answers.py")])
        headers = {"Content-Type": "application/json"}
        sent = httpx2.post(f"{url}/v1/responses", content=batch, headers=headers)
        assert sent.json()["accepted"] == 400
        until(lambda: "women" in printed.read_text())
        status = command("status")
        assert status.returncode == 1
        words = "refused is worse for women than for men: 40 % of the time against 10 %"
        assert words in " ".join(status.stdout.split())
        answers = command("monitor", "show", "support", "--alarms")
        assert "I am sorry, but I cannot help with that." in answers.stdout
