"""The operator as a process of its own, beside a real platform and an imitation of the API."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from biaswatch.services.operator.domain.conditions import GROUP, VERSION
from tests.support.kubernetes_api import PERSON, ApiServer, KubernetesApi
from tests.support.waiting import eventually

NAMESPACE = "biaswatch"
TOKEN = "the-token-of-the-operator"
Body = dict[str, Any]
USER_NAMES = {"LOGNAME", "USER", "LNAME", "USERNAME"}
"""Variables from which Python takes the name of a user whom the system does not know."""


class OperatedCluster:
    """What a person does with kubectl, and the operator that a node runs."""

    def __init__(self, api: KubernetesApi, server: ApiServer, gateway: str) -> None:
        self.api = api
        self._server = server
        self._gateway = gateway
        headers = {"Authorization": f"Bearer {PERSON}"}
        self._http = httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=30)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, user: int | None = None) -> None:
        """Start the operator, under a user ID of its own if one is given."""
        given = {
            "KUBECONFIG": str(self._server.kubeconfig),
            "BIASWATCH_OPERATOR_GATEWAY_URL": self._gateway,
            "BIASWATCH_OPERATOR_TOKEN": TOKEN,
            "BIASWATCH_OPERATOR_LOOK_S": "0.3",
            "BIASWATCH_OPERATOR_LEASE_S": "1",
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_HEALTH_HOST": "127.0.0.1",
        }
        words = [sys.executable, "-m", "biaswatch.services.operator.app"]
        environment = {**os.environ, **given}
        if user is not None:
            words = [*as_user(user), *words]
            environment = {k: v for k, v in environment.items() if k not in USER_NAMES}
        self._process = subprocess.Popen(words, env=environment)

    def kill(self) -> None:
        """End the operator at once, as a node that dies does."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask the operator to end; return its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        if self._process is None:
            return 0
        self._process.send_signal(number)
        code, self._process = self._process.wait(timeout=60), None
        return code

    def ended(self) -> int:
        """Return the exit code of an operator that ends by itself."""
        assert self._process is not None
        code, self._process = self._process.wait(timeout=60), None
        return code

    def holder(self) -> str:
        """Return the operator that holds the Lease."""
        lease = self.api.object_of("leases", NAMESPACE, "operator")
        return str(lease.get("spec", {}).get("holderIdentity", ""))

    def records(self) -> Body:
        """Return what the operator has recorded of resources."""
        records: Body = self.api.object_of("configmaps", NAMESPACE, "operator").get("data", {})
        return records

    @asynccontextmanager
    async def beside(self) -> AsyncIterator["OperatedCluster"]:
        """Give the same cluster a second operator; it is not started yet."""
        async with operated_cluster(self.api, self._server, self._gateway) as other:
            yield other

    async def close(self) -> None:
        """End what runs."""
        self.kill()
        await self._http.aclose()

    async def create(self, kind: str, name: str, spec: Body) -> httpx2.Response:
        """Create a resource."""
        body = {
            "apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {"name": name},
            "spec": spec,
        }  # fmt: skip
        return await self._http.post(_path(kind), json=body)

    async def change(self, kind: str, name: str, spec: Body) -> None:
        """Change fields of a resource's spec."""
        merge = {"Content-Type": "application/merge-patch+json"}
        path = f"{_path(kind)}/{name}"
        reply = await self._http.patch(path, json={"spec": spec}, headers=merge)
        assert reply.is_success, reply.text

    async def delete(self, kind: str, name: str) -> None:
        """Ask for a resource to be deleted."""
        await self._http.delete(f"{_path(kind)}/{name}")

    async def get(self, kind: str, name: str) -> Body | None:
        """Return a resource, or None once it is gone."""
        reply = await self._http.get(f"{_path(kind)}/{name}")
        result: Body | None = reply.json() if reply.is_success else None
        return result

    async def until(self, kind: str, name: str, there: Callable[[Body], object]) -> Body:
        """Return a resource's status, once it is so."""
        last: Body = {}

        async def look() -> bool:
            response = await self.get(kind, name)
            last.clear()
            last.update((response or {}).get("status") or {})
            return bool(there(last))

        try:
            await eventually(look)
        except TimeoutError:
            raise AssertionError(f"{kind} {name} stays at {last}") from None
        return last

    async def until_gone(self, kind: str, name: str) -> None:
        """Return once a resource is gone."""

        async def gone() -> bool:
            return await self.get(kind, name) is None

        await eventually(gone)

    def told(self, reason: str) -> list[str]:
        """Return the messages of the events with a reason."""
        return [event["message"] for event in self.api.events if event["reason"] == reason]


def condition(status: Body, kind: str) -> Body:
    """Return a condition of a status; empty where there is none."""
    conditions = [
        condition for condition in status.get("conditions", ()) if condition["type"] == kind
    ]
    return conditions[0] if conditions else {}


def _path(kind: str) -> str:
    plural = "biassearches" if kind == "BiasSearch" else f"{kind.lower()}s"
    return f"/apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/{plural}"


def as_user(user: int) -> list[str]:
    """Return the words that run a command under a user ID; it may still read this checkout."""
    reads = [f"--{capabilities}-caps=+dac_read_search" for capabilities in ("inh", "ambient")]
    return ["setpriv", f"--reuid={user}", "--clear-groups", *reads]


def why_no_other_user(user: int) -> str | None:
    """Say why no process can be started under a user ID, if that is so."""
    if shutil.which("setpriv") is None:
        return "there is no setpriv here"
    done = subprocess.run([*as_user(user), "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


@asynccontextmanager
async def operated_cluster(
    api: KubernetesApi, server: ApiServer, gateway: str
) -> AsyncIterator[OperatedCluster]:
    """Let a person act on a cluster whose operator asks a gateway; it is not started yet."""
    cluster = OperatedCluster(api, server, gateway)
    try:
        yield cluster
    finally:
        await cluster.close()
