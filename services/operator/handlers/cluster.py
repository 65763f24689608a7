"""A client of the Kubernetes API server, in addition to kopf's watches."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2
import kopf

from biaswatch.services.operator.domain.conditions import (
    GROUP,
    MONITORS,
    OPERATOR,
    RUNS,
    SEARCHES,
    SUITES,
    VERSION,
)
from biaswatch.shared.errors import ConfigurationError, NotFoundError, TransientError
from biaswatch.shared.network.outgoing import RequestFailedError, request_failures

TIMEOUT_S = 10.0
NOT_FOUND, CONFLICT = 404, 409
MERGE = {"Content-Type": "application/merge-patch+json"}
Fields = Mapping[str, Any]


class ConflictError(TransientError):
    """The object was changed since it was read."""


def login(**arguments: Any) -> kopf.ConnectionInfo | None:
    """Return the connection to the API server: from within the cluster, or by a kubeconfig."""
    return kopf.login_with_service_account(**arguments) or kopf.login_with_kubeconfig(**arguments)


class ClusterApi:
    """Requests to the API server; the token is read anew for each, as it expires."""

    def __init__(self, namespaces: Iterable[str]) -> None:
        self.namespaces = tuple(namespaces)

    @property
    def own_namespace(self) -> str:
        """Return the namespace of the operator's Lease and records."""
        return self.namespaces[0]

    async def missing_definitions(self) -> str | None:
        """Return why the resources are not served yet; None once they are."""
        try:
            reply = await self._send("GET", f"/apis/{GROUP}/{VERSION}")
        except NotFoundError:
            return f"{GROUP}/{VERSION} is not defined. Apply deploy/k8s/cluster."
        except TransientError as error:
            return str(error)
        served = {resource["name"] for resource in reply.get("resources", ())}
        missing = sorted({MONITORS, SUITES, RUNS, SEARCHES} - served)
        return f"not served are {', '.join(missing)}" if missing else None

    async def list(self, plural: str, namespace: str) -> list[dict[str, Any]]:
        """Return the resources of a kind in a namespace."""
        reply = await self._send("GET", _path(plural, namespace))
        items: list[dict[str, Any]] = reply["items"]
        return items

    async def write_status(self, plural: str, meta: Fields, fields: Fields) -> dict[str, Any]:
        """Change fields of a resource's status; None removes one. Return the resource."""
        path = f"{_path(plural, meta['namespace'])}/{meta['name']}/status"
        return await self._send("PATCH", path, {"status": dict(fields)})

    async def records(self) -> dict[str, str]:
        """Return the operator's own records by key."""
        return dict((await self._send("GET", self._records_path)).get("data") or {})

    async def write_record(self, key: str, value: str | None) -> None:
        """Write one of the operator's own records; None removes it."""
        await self._send("PATCH", self._records_path, {"data": {key: value}})

    async def lease(self) -> dict[str, Any]:
        """Return the operator's Lease."""
        return await self._send("GET", self._lease_path)

    async def write_lease(self, lease: Fields, spec: Fields) -> dict[str, Any]:
        """Change the Lease that was read.

        Raises
        ------
        ConflictError
            It was changed since.
        """
        version = {"resourceVersion": lease["metadata"]["resourceVersion"]}
        return await self._send(
            "PATCH", self._lease_path, {"metadata": version, "spec": dict(spec)}
        )

    @property
    def _records_path(self) -> str:
        return f"/api/v1/namespaces/{self.own_namespace}/configmaps/{OPERATOR}"

    @property
    def _lease_path(self) -> str:
        group = "/apis/coordination.k8s.io/v1"
        return f"{group}/namespaces/{self.own_namespace}/leases/{OPERATOR}"

    async def _send(self, method: str, path: str, body: Fields | None = None) -> dict[str, Any]:
        """Return the decoded reply.

        Raises
        ------
        TransientError
            The API server does not answer, or refuses the request.
        NotFoundError
            The object does not exist.
        ConflictError
            The object was changed since it was read.
        """
        connection = _connection()
        server = connection.server.rstrip("/")
        async with httpx2.AsyncClient(
            verify=connection.as_ssl_context(),
            headers=connection.as_http_headers(),
            timeout=TIMEOUT_S,
        ) as http:
            try:
                async with request_failures(server, TIMEOUT_S):
                    reply = await http.request(method, server + path, json=body, headers=MERGE)
                if reply.is_success:
                    decoded: dict[str, Any] = reply.json()
                    return decoded
            except (RequestFailedError, json.JSONDecodeError) as failed:
                raise TransientError(f"The API server does not answer: {failed}") from None
        if reply.status_code == NOT_FOUND:
            raise NotFoundError(
                f"The API server has no {path}. Apply the operator's manifests again."
            )
        if reply.status_code == CONFLICT:
            raise ConflictError(f"{path} was changed since it was read.")
        raise TransientError(f"The API server answers HTTP {reply.status_code} for {path}.")


def _connection() -> kopf.ConnectionInfo:
    """Return the connection.

    Raises
    ------
    ConfigurationError
        The address of the API server is not configured.
    """
    connection = login(settings=kopf.OperatorSettings())
    if connection is None:
        raise ConfigurationError(
            "There is neither a service account nor a kubeconfig. Run the operator in a pod of a"
            " cluster, or set KUBECONFIG."
        )
    return connection


def _path(plural: str, namespace: str) -> str:
    return f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/{plural}"
