"""Whether the API server serves the resources: kopf looks for them once, when it starts."""

import json

import httpx2
import kopf

from biaswatch.services.operator.domain.resources import GROUP, MONITORS, RUNS, SUITES, VERSION
from biaswatch.services.operator.handlers.resources import login
from biaswatch.shared.errors import ConfigurationError

TIMEOUT_S = 10.0


async def definitions_served() -> str | None:
    """Return None once the resources are served, and until then why they are not.

    Raises
    ------
    ConfigurationError
        Nothing says how the API server is reached.
    """
    where = login(settings=kopf.OperatorSettings())
    if where is None:
        raise ConfigurationError(
            "There is neither a service account nor a kubeconfig. Run the operator in a pod of a"
            " cluster, or set KUBECONFIG."
        )
    try:
        async with httpx2.AsyncClient(
            verify=where.as_ssl_context(), headers=where.as_http_headers(), timeout=TIMEOUT_S
        ) as http:
            reply = await http.get(f"{where.server.rstrip('/')}/apis/{GROUP}/{VERSION}")
            if not reply.is_success:
                return f"the API server answers HTTP {reply.status_code} for {GROUP}/{VERSION}"
            served = {each["name"] for each in reply.json().get("resources", ())}
    except (httpx2.HTTPError, json.JSONDecodeError) as error:
        return f"the API server does not answer ({type(error).__name__})"
    missing = sorted({MONITORS, SUITES, RUNS} - served)
    return f"not served are {', '.join(missing)}" if missing else None
