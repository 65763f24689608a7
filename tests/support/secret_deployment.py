"""Services in processes with secrets of every kind, and all that they show, log and keep."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import yaml
from sqlalchemy import make_url

from biaswatch.shared.contracts.access import verifier_of
from biaswatch.shared.runtime.web import free_port
from tests.support.waiting import PATIENCE_S, eventually

BY_NAME = {
    "token of the tokens file": "planted-named-token-0006",
    "bearer token of a channel": "planted-channel-token-0007",
    "address of a webhook": "planted-webhook-path-0008",
    "password of Alertmanager": "planted-alertmanager-password-0009",
    "password of the database": "planted-database-password-0010",
    "headers of the telemetry": "planted-telemetry-header-0011",
    "headers of evaluations": "planted-evaluation-header-0012",
}
SERVICES = ("gateway", "diagnoser", "notifier", "recorder", "planner")
HERE = "127.0.0.1"


class SecretDeployment:
    """Services in processes, with a key, a secret file or a password for everything."""

    def __init__(self, folder: Path, store_url: str, bus_url: str, receiver: str) -> None:
        self.folder, self.bus_url = folder, bus_url
        password = BY_NAME["password of the database"]
        self.store_url = make_url(store_url).set(password=password)
        self._ports = {name: free_port(HERE) for name in SERVICES}
        self.port = free_port(HERE)
        self._secrets(receiver)
        self._environment = {
            **os.environ,
            "NATS_URL": bus_url,
            "BIASWATCH_STORE_URL": self.store_url.render_as_string(hide_password=False),
            "BIASWATCH_STATE_DIR": str(folder / "state"),
            "BIASWATCH_GATEWAY_PORT": str(self.port),
            "BIASWATCH_GATEWAY_TOKENS_FILE": str(folder / "tokens.yaml"),
            "BIASWATCH_GATEWAY_EVALUATIONS_URL": f"{receiver}/v1/logs",
            "BIASWATCH_GATEWAY_EVALUATIONS_HEADERS_FILE": str(folder / "evaluations.yaml"),
            "BIASWATCH_GATEWAY_EVALUATIONS_PRIVATE_HOSTS": f'["{HERE}"]',
            "BIASWATCH_NOTIFIER_CHANNELS_FILE": str(folder / "channels.yaml"),
            "BIASWATCH_NOTIFIER_PRIVATE_HOSTS": f'["{HERE}"]',
            "BIASWATCH_TELEMETRY_URL": receiver,
            "BIASWATCH_TELEMETRY_HEADERS_FILE": str(folder / "telemetry.yaml"),
            "BIASWATCH_LOG_LEVEL": "DEBUG",
            "PLANTED_PASSWORD": BY_NAME["password of Alertmanager"],
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def _secrets(self, receiver: str) -> None:
        webhook = self._file("webhook", f"{receiver}/{BY_NAME['address of a webhook']}")
        token = self._file("channel_token", BY_NAME["bearer token of a channel"])
        tickets = {"kind": "webhook", "url": {"file": webhook}, "bearer_token": {"file": token}}
        password = {"env": "PLANTED_PASSWORD"}
        oncall = {"kind": "alertmanager", "url": receiver, "username": "me", "password": password}
        self._yaml("channels.yaml", {"channels": {"tickets": tickets, "oncall": oncall}})
        self._yaml("telemetry.yaml", {"X-Key": BY_NAME["headers of the telemetry"]})
        self._yaml("evaluations.yaml", {"X-Key": BY_NAME["headers of evaluations"]})
        verifier = verifier_of(BY_NAME["token of the tokens file"])
        granted = {"name": "me", "role": "admin", "tenant": "default", "verifier": verifier}
        self._yaml("tokens.yaml", {"tokens": [granted]})

    def _file(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text + "\n")
        return name

    def _yaml(self, name: str, fields: object) -> None:
        self._file(name, yaml.safe_dump(fields))

    def start(self, name: str, **other: str) -> None:
        """Start a service, perhaps with settings of its own."""
        ports = {"BIASWATCH_HEALTH_PORT": str(self._ports.get(name, 0))}
        seed = {"BIASWATCH_NATS_SEED_FILE": str(self.folder / "keys" / f"{name}.seed")}
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                [sys.executable, "-m", f"biaswatch.services.{name}.app"],
                stdout=log, stderr=log, env={**self._environment, **ports, **seed, **other},
            )  # fmt: skip

    async def working(self) -> None:
        """Return when all of them take work."""
        async with httpx2.AsyncClient() as client:

            async def ready() -> bool:
                assert [name for name, process in self.running.items() if process.poll()] == []
                try:
                    await client.get(f"http://{HERE}:{self.port}/")
                    replies = [
                        await client.get(f"http://{HERE}:{port}/readyz")
                        for port in self._ports.values()
                    ]
                except httpx2.HTTPError:
                    return False
                return all(reply.status_code == 200 for reply in replies)

            await eventually(ready)

    async def ask(self, verb: str, path: str, body: object = None, token: str = "") -> Any:
        """Ask the gateway; return what it said."""
        headers = {"Authorization": f"Bearer {token or BY_NAME['token of the tokens file']}"}
        async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
            url = f"http://{HERE}:{self.port}{path}"
            return await client.request(verb, url, json=body, headers=headers)

    async def shown(self) -> list[str]:
        """Return what whoever looks at the processes and their metrics sees."""
        pages = [
            f"{port}/{page}" for port in self._ports.values() for page in ("metrics", "readyz")
        ]
        async with httpx2.AsyncClient() as client:
            replies = [await client.get(f"http://{HERE}:{page}") for page in pages]
        return [*(reply.text for reply in replies), *map(_command_line, self.running.values())]

    def end(self) -> list[str]:
        """Stop all; return their logs, and whatever is kept beside the secrets themselves."""
        for item in self.running.values():
            item.terminate()
        for item in self.running.values():
            item.wait(PATIENCE_S)
        kept = [*self.folder.glob("*.log"), *(self.folder / "state").rglob("*")]
        bus = (self.folder / "nats").rglob("*")
        kept += [path for path in bus if "MONITORS" not in path.parts]  # a file may name a webhook
        return [item.read_bytes().decode(errors="replace") for item in kept if item.is_file()]


def _command_line(process: "subprocess.Popen[bytes]") -> str:
    return Path(f"/proc/{process.pid}/cmdline").read_text()
