"""The REST API of an MLflow tracking server: seven requests, without MLflow's own packages."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.network.outgoing import RequestFailedError, outgoing_client, request_failures

API = "/api/2.0/mlflow"
ARTIFACTS = "/api/2.0/mlflow-artifacts/artifacts"
PROXIED = "mlflow-artifacts"
"""Scheme of artifacts that the server itself stores."""
TIMEOUT_S = 60
MAX_METRICS = 1_000
"""Metrics of one request; the server refuses more."""
MISSING = "RESOURCE_DOES_NOT_EXIST"


class MlflowSettings(BaseSettings):
    """The variables that MLflow's own client reads."""

    model_config = SettingsConfigDict(env_prefix="MLFLOW_")

    tracking_token: SecretStr | None = None
    tracking_username: str | None = None
    tracking_password: SecretStr = SecretStr("")
    experiment_name: str = "biaswatch"


@dataclass(frozen=True)
class Metric:
    """A number of a run at a step."""

    key: str
    value: float
    timestamp: int
    """Milliseconds since 1970."""
    step: int


@dataclass(frozen=True)
class LoggedRun:
    """The content of an MLflow run."""

    name: str
    status: str
    """FINISHED, FAILED, KILLED or RUNNING."""
    start_time: int
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: Sequence[Metric]
    artifacts: Mapping[str, bytes]


class MlflowServer:
    """Calls a tracking server; refusals are raised as errors with its sentence."""

    def __init__(self, address: str, experiment: str, http: httpx2.AsyncClient) -> None:
        self._address = address.rstrip("/")
        self._experiment = experiment
        self._http = http

    async def log(self, identity: Mapping[str, str], run: LoggedRun) -> str:
        """Log a run, or log the run with the same identity again; return its page.

        Raises
        ------
        UsageError
            The server refuses a request, or stores no artifacts itself.
        TransientError
            The server does not answer.
        """
        experiment_id = await self._experiment_id()
        known = await self._known_run(experiment_id, identity)
        info = known or await self._created(experiment_id, run, identity)
        run_id = info["run_id"]
        folder = self._folder(info["artifact_uri"])
        tags = [{"key": key, "value": value} for key, value in run.tags.items()]
        params = [{"key": key, "value": value} for key, value in run.params.items()]
        await self._post("runs/log-batch", {"run_id": run_id, "params": params, "tags": tags})
        for start in range(0, len(run.metrics), MAX_METRICS):
            metrics = [asdict(metric) for metric in run.metrics[start : start + MAX_METRICS]]
            await self._post("runs/log-batch", {"run_id": run_id, "metrics": metrics})
        for name, content in run.artifacts.items():
            await self._ask("PUT", f"{ARTIFACTS}/{folder}/{quote(name)}", content=content)
        await self._post("runs/update", {"run_id": run_id, "status": run.status})
        return f"{self._address}/#/experiments/{experiment_id}/runs/{run_id}"

    async def _experiment_id(self) -> str:
        """Return the id of the experiment, which is created unless it exists."""
        query = {"experiment_name": self._experiment}
        reply = await self._ask(
            "GET", f"{API}/experiments/get-by-name", params=query, accepts=MISSING
        )
        if "experiment" in reply:
            return str(reply["experiment"]["experiment_id"])
        return str(
            (await self._post("experiments/create", {"name": self._experiment}))["experiment_id"]
        )

    async def _known_run(
        self, experiment_id: str, identity: Mapping[str, str]
    ) -> dict[str, Any] | None:
        """Return the run of an earlier export of the same source."""
        wanted = " and ".join(f"tags.`{key}` = '{value}'" for key, value in identity.items())
        body = {"experiment_ids": [experiment_id], "filter": wanted, "max_results": 1}
        runs = (await self._post("runs/search", body)).get("runs", [])
        return runs[0]["info"] if runs else None

    async def _created(
        self, experiment_id: str, run: LoggedRun, identity: Mapping[str, str]
    ) -> dict[str, Any]:
        body = {
            "experiment_id": experiment_id,
            "run_name": run.name,
            "start_time": run.start_time,
            "tags": [{"key": key, "value": value} for key, value in identity.items()],
        }
        info: dict[str, Any] = (await self._post("runs/create", body))["run"]["info"]
        return info

    def _folder(self, artifact_uri: str) -> str:
        """Return the path of a run's artifacts on the server."""
        parts = urlsplit(artifact_uri)
        if parts.scheme != PROXIED:
            raise UsageError(
                f"The MLflow server has its clients store artifacts themselves, in"
                f" {parts.scheme or 'a folder'}. Start it with --serve-artifacts and"
                f" --artifacts-destination, and choose a new experiment (MLFLOW_EXPERIMENT_NAME)."
            )
        return parts.path.strip("/")

    async def _post(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._ask("POST", f"{API}/{name}", json=body)

    async def _ask(
        self, verb: str, where: str, *, accepts: str | None = None, **content: Any
    ) -> dict[str, Any]:
        """Send a request; an `accepts` code of an error is returned as an empty reply."""
        url = f"{self._address}{where}"
        try:
            async with request_failures(url, TIMEOUT_S):
                reply = await self._http.request(verb, url, **content)
        except RequestFailedError as error:
            raise TransientError(f"{error} Is an MLflow server at -o? Nothing was lost.") from None
        fields = _fields(reply)
        if reply.is_success:
            return fields
        if accepts is not None and fields.get("error_code") == accepts:
            return {}
        raise UsageError(_refusal(reply.status_code, fields))


def _fields(reply: httpx2.Response) -> dict[str, Any]:
    try:
        fields = reply.json()
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _refusal(status: int, fields: Mapping[str, Any]) -> str:
    if status in {401, 403}:
        return (
            "The MLflow server refuses access: set MLFLOW_TRACKING_TOKEN, or"
            " MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD."
        )
    reason = fields.get("message") or "Is this the address of a tracking server?"
    return f"The MLflow server answered HTTP {status}. {reason}"


@asynccontextmanager
async def mlflow_server(address: str) -> AsyncIterator[MlflowServer]:
    """Yield a client with the credentials of MLflow's own environment variables.

    Raises
    ------
    UsageError
        It is not an address of HTTP.
    """
    if urlsplit(address).scheme not in {"http", "https"}:
        raise UsageError(f"-o names a tracking server, http://HOST:PORT, not {address!r}.")
    settings = MlflowSettings()
    token, user = settings.tracking_token, settings.tracking_username
    headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    auth = (user, settings.tracking_password.get_secret_value()) if user else None
    http = outgoing_client(None, timeout_s=TIMEOUT_S, headers=headers, auth=auth)
    async with http:
        yield MlflowServer(address, settings.experiment_name, http)
