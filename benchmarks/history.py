"""Recorded answers of a month judged by `ingest --history`: time, memory and CPU of each process.

`python -m benchmarks.history 1000000` makes so many answers of 30 days; smaller numbers are faster.
`--days` sets another length of time, `--window` another length of windows. `--log FILE` keeps the
memory of each process every 30 s, to see whether it grows with the log.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from biaswatch.shared.runtime.web import free_port

HERE = "127.0.0.1"
LOOK_S = 0.5
LOG_EVERY_S = 30
MEMORY = ("VmHWM:", "VmRSS:")
"""The peak, and what is resident now."""
WORDS = "It left our house on Monday and should be with you by Thursday. "
REFUSAL = "I'm sorry, but I can't help with that."
SHARES = {"female": 0.12, "male": 0.05}
"""The shares of refused answers that are planted."""
MONITOR = {
    "name": "support",
    "target": "traffic:support",
    "lateness": "5m",
    "features": [
        {"extractor": "refusal", "feature": "refused", "low": 0, "high": 1, "tolerance": 0.01}
    ],
    "comparisons": [{"dimension": "gender", "a": "female", "b": "male"}],
}


def main() -> int:
    """Print what the ingestion of a recorded month takes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("answers", type=int, nargs="?", default=20_000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--window", default="1d")
    parser.add_argument("--log", type=Path, default=Path(os.devnull))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="biaswatch-history-") as folder:
        file = Path(folder) / "answers.jsonl"
        write_answers(file, given.answers, given.days)
        print(f"{given.answers:,} answers of {given.days} days, {file.stat().st_size / 1e6:.0f} MB")
        judge(Path(folder), file, given.window, given.log)
    return 0


def write_answers(file: Path, count: int, days: int) -> None:
    """Write the answers of users who come back, with gaps in groups, users and texts."""
    luck, end = random.Random(1), datetime.now(UTC).replace(hour=0, minute=0, second=0)
    begin = end - timedelta(days=days)
    with file.open("w") as out:
        for number in range(count):
            group = luck.choice(("female", "male"))
            refused = luck.random() < SHARES[group]
            answer: dict[str, object] = {
                "id": f"a-{number}",
                "at": (begin + (end - begin) * (number / count)).isoformat(),
                "prompt": "Where is my parcel?",
            }
            answer |= {"reason": "timeout"} if number % 50 == 7 else {}
            answer |= {} if "reason" in answer else {"text": REFUSAL if refused else WORDS * 4}
            answer |= {"unit": f"user-{luck.randrange(count // 3 + 1)}"} if number % 40 != 3 else {}
            answer |= {"groups": {"gender": group}} if number % 60 != 11 else {}
            out.write(json.dumps(answer) + "\n")


def judge(folder: Path, file: Path, window: str, log: Path) -> None:
    """Run a platform in processes, apply the monitor, and have the file judged."""
    monitor, port = folder / "monitor.json", free_port(HERE)
    monitor.write_text(json.dumps({**MONITOR, "window": window}))
    state = {"BIASWATCH_STATE_DIR": str(folder / "state"), "COLUMNS": "160"}
    environment = {**os.environ, **state}  # noqa: TID251 - handed on to the command
    command = [sys.executable, "-c", "from biaswatch.main import main; main()"]
    up = subprocess.Popen(
        [*command, "up", "--processes", "--port", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=(folder / "up.log").open("w"),
    )
    server = ["--server", f"http://{HERE}:{port}"]
    used: dict[str, Usage] = {}
    ended = threading.Event()
    watching = threading.Thread(target=watch_usage, args=(up.pid, used, ended, log))
    try:
        applied = None
        while applied is None or applied.returncode:
            time.sleep(1)
            applied = subprocess.run(
                [*command, "monitor", "apply", str(monitor), *server],
                capture_output=True, text=True, env=environment,
            )  # fmt: skip
        watching.start()
        began = time.monotonic()
        done = subprocess.run(
            [*command, "ingest", "support", str(file), "--history", *server],
            capture_output=True, text=True, env=environment,
        )  # fmt: skip
        took_s = time.monotonic() - began
        print(done.stdout, done.stderr, sep="\n")
        cpu_s = sum(each.cpu_s for each in used.values())
        print(f"{took_s:.0f} s, {cpu_s:.0f} s of CPU together, exit code {done.returncode}")
        for name, each in sorted(used.items()):
            print(f"  {name:32}{each.peak_kib // 1024:6,} MB at most{each.cpu_s:8.0f} s of CPU")
    finally:
        ended.set()
        up.terminate()
        up.wait(60)


@dataclass(frozen=True)
class Usage:
    """What a process has used so far."""

    peak_kib: int
    now_kib: int
    cpu_s: float


def watch_usage(parent: int, used: dict[str, Usage], ended: threading.Event, log: Path) -> None:
    """Note the peak memory and the CPU time of every process below one, by its name."""
    began_s = logged_s = time.monotonic()
    log.write_text("second,process,resident_mb,cpu_s\n")
    while not ended.wait(LOOK_S):
        if (now_s := time.monotonic()) - logged_s > LOG_EVERY_S:
            logged_s = now_s
            log_usage(log, now_s - began_s, used)
        for pid in _below(parent) | _below(os.getpid()):
            try:
                words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
                status = Path(f"/proc/{pid}/status").read_text()
                ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            except OSError:
                continue
            name = next((w for w in words if w.startswith("services.")), None)
            name = name or ("nats-server" if "nats-server" in words[0] else None)
            name = name or ("ingest" if "ingest" in words else None)
            kib = {w[0]: int(w[1]) for w in map(str.split, status.splitlines()) if w[0] in MEMORY}
            if name and len(kib) == len(MEMORY):
                cpu_s = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
                peak_kib, now_kib = (kib[each] for each in MEMORY)
                used[name] = Usage(peak_kib, now_kib, cpu_s)


def log_usage(log: Path, second: float, used: dict[str, Usage]) -> None:
    """Append a line for each process."""
    with log.open("a") as out:
        for name, each in sorted(used.items()):
            out.write(f"{second:.0f},{name},{each.now_kib // 1024},{each.cpu_s:.1f}\n")


def _below(parent: int) -> set[int]:
    """Return the processes below one, at any depth."""
    children: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        children[int(text.rpartition(")")[2].split()[1])].append(int(stat.parent.name))
    found, waiting = set(), [parent]
    while waiting:
        waiting += (new := children[waiting.pop()])
        found |= set(new)
    return found


if __name__ == "__main__":
    sys.exit(main())
