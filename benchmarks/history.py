"""Time, memory and CPU of each process while `ingest --history` judges a month of answers.

`python -m benchmarks.history 1000000` makes a million answers of 30 days. `--days` sets another
period, `--window` another length of windows. `--log FILE` keeps the memory of each process every
30 s, to see whether it grows with the log.
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

from benchmarks.measuring import HOST, memory_mib, process_cpu_s
from biaswatch.shared.runtime.web import free_port

INTERVAL_S = 0.5
LOG_EVERY_S = 30
WORDS = "It left our house on Monday and should be with you by Thursday. "
REFUSAL = "I'm sorry, but I can't help with that."
SHARES = {"female": 0.12, "male": 0.05}
"""Planted shares of refused answers."""
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
    """Make the answers, and have them judged."""
    parser = argparse.ArgumentParser()
    parser.add_argument("answers", type=int, nargs="?", default=20_000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--window", default="1d")
    parser.add_argument("--log", type=Path, default=Path(os.devnull))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="biaswatch-history-") as folder:
        file = Path(folder) / "answers.jsonl"
        write_answers(file, options.answers, options.days)
        size_mb = file.stat().st_size / 1e6
        print(f"{options.answers:,} answers of {options.days} days, {size_mb:.0f} MB")
        judge(Path(folder), file, options.window, options.log)
    return 0


def write_answers(file: Path, count: int, days: int) -> None:
    """Write answers of returning users, with gaps in groups, users and texts."""
    rng, end = random.Random(1), datetime.now(UTC).replace(hour=0, minute=0, second=0)
    begin = end - timedelta(days=days)
    with file.open("w") as out:
        for number in range(count):
            group = rng.choice(("female", "male"))
            refused = rng.random() < SHARES[group]
            answer: dict[str, object] = {
                "id": f"a-{number}",
                "at": (begin + (end - begin) * (number / count)).isoformat(),
                "prompt": "Where is my parcel?",
            }
            answer |= {"reason": "timeout"} if number % 50 == 7 else {}
            answer |= {} if "reason" in answer else {"text": REFUSAL if refused else WORDS * 4}
            answer |= {"unit": f"user-{rng.randrange(count // 3 + 1)}"} if number % 40 != 3 else {}
            answer |= {"groups": {"gender": group}} if number % 60 != 11 else {}
            out.write(json.dumps(answer) + "\n")


def judge(folder: Path, file: Path, window: str, log: Path) -> None:
    """Run a platform in processes, apply the monitor, and have the file judged."""
    monitor, port = folder / "monitor.json", free_port(HOST)
    monitor.write_text(json.dumps({**MONITOR, "window": window}))
    state = {"BIASWATCH_STATE_DIR": str(folder / "state"), "COLUMNS": "160"}
    state["BIASWATCH_HEALTH_PORT"] = "0"  # beside other platforms
    environment = {**os.environ, **state}  # noqa: TID251 - passed on
    command = [sys.executable, "-c", "from biaswatch.main import main; main()"]
    up = subprocess.Popen(
        [*command, "up", "--processes", "--port", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=(folder / "up.log").open("w"),
    )
    server = ["--server", f"http://{HOST}:{port}"]
    used: dict[str, ProcessUsage] = {}
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
        cpu_s = sum(usage.cpu_s for usage in used.values())
        print(f"{took_s:.0f} s, {cpu_s:.0f} s of CPU together, exit code {done.returncode}")
        for name, usage in sorted(used.items()):
            print(f"  {name:32}{usage.peak_mib:6,.0f} MiB at most{usage.cpu_s:8.0f} s of CPU")
    finally:
        ended.set()
        up.terminate()
        up.wait(60)


@dataclass(frozen=True)
class ProcessUsage:
    """Memory and CPU time of a process."""

    peak_mib: float
    now_mib: float
    cpu_s: float


def watch_usage(
    parent: int, used: dict[str, ProcessUsage], ended: threading.Event, log: Path
) -> None:
    """Record the usage of every process below one, by its name."""
    began_s = logged_s = time.monotonic()
    log.write_text("second,process,resident_mib,cpu_s\n")
    while not ended.wait(INTERVAL_S):
        if (now_s := time.monotonic()) - logged_s > LOG_EVERY_S:
            logged_s = now_s
            log_usage(log, now_s - began_s, used)
        for pid in _below(parent) | _below(os.getpid()):
            try:
                words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
                memory = memory_mib(pid), memory_mib(pid, "VmRSS")
                usage = ProcessUsage(*memory, process_cpu_s(pid))
            except (OSError, ValueError):  # it has ended
                continue
            module = next((w for w in words if w.startswith("biaswatch.services.")), "")
            for name in (module, "nats-server" * ("nats-server" in words[0])):
                if name:
                    used[name] = usage
            if "ingest" in words:
                used["ingest"] = usage


def log_usage(log: Path, second: float, used: dict[str, ProcessUsage]) -> None:
    """Append a line for each process."""
    with log.open("a") as out:
        for name, usage in sorted(used.items()):
            out.write(f"{second:.0f},{name},{usage.now_mib:.0f},{usage.cpu_s:.1f}\n")


def _below(parent: int) -> set[int]:
    """Return the processes below one, at any depth."""
    children: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        children[int(text.rpartition(")")[2].split()[1])].append(int(stat.parent.name))
    pids, waiting = set(), [parent]
    while waiting:
        waiting += (new := children[waiting.pop()])
        pids |= set(new)
    return pids


if __name__ == "__main__":
    sys.exit(main())
