"""The parts of docker-compose.yml and of Prometheus's settings that list the services."""

import re

from tools.deployment.services import (
    PROVIDER_KEYS,
    SERVICE_SPECS,
    bus_services,
    secrets_of,
    spec_of,
)
from tools.deployment.workloads import HEALTH_PORT

BY_HAND = {name for name, own in SERVICE_SPECS.items() if own.secrets or own.port} | {"extractor"}
"""Services whose blocks are written by hand in docker-compose.yml."""
PASSWORD = "postgres_password"  # noqa: S105 - the name of a file


def replace_marked(text: str, name: str, generated: str) -> str:
    """Replace the lines between the marks of this name."""
    start, end = f"# generated: {name}\n", f"# end: {name}\n"
    if text.count(start) != 1 or text.count(end) != 1:
        raise SystemExit(f"There must be one `{start.strip()}` and one `{end.strip()}` after it.")
    pattern = re.compile(rf"({re.escape(start)}).*?( *{re.escape(end)})", re.DOTALL)
    return pattern.sub(lambda found: found[1] + generated + found[2], text)


def plain_services() -> str:
    """Return the services that need nothing but a key and the store."""
    return "".join(_service(name) for name in bus_services() if name not in BY_HAND)


def _service(name: str) -> str:
    variables = spec_of(name).variables
    own = "".join(f"      {variable}: ${{{variable}:-}}\n" for variable in variables)
    environment = f"\n      <<: *environment\n{own}" if own else " *environment\n"
    return (
        f"  {name}:\n    <<: *service\n"
        f"    image: ${{BIASWATCH_IMAGES:-biaswatch}}-{name}:${{BIASWATCH_VERSION:-dev}}\n"
        f"    environment:{environment}"
        "    secrets:\n"
        f"      - {{source: {name}_seed, target: nats.seed}}\n"
        "      - biaswatch_store_url\n\n"
    )


def provider_keys() -> str:
    """Return the secrets with the keys of model providers, which the generator alone holds."""
    return "".join(f"      - {name}\n" for name in PROVIDER_KEYS)


def secret_files() -> str:
    """Return the file of each secret."""
    names = dict.fromkeys(name for service in bus_services() for name in secrets_of(service))
    files = {f"{service}_seed": f"{service}.seed" for service in ("operator", *bus_services())}
    files |= {name: name for name in (PASSWORD, *names)}
    folder = "${BIASWATCH_SECRETS:-./deploy/secrets}"
    return "".join(f'  {name}: {{file: "{folder}/{file}"}}\n' for name, file in files.items())


def targets() -> str:
    """Return the DNS names under which Prometheus finds every replica."""
    return f"        port: {HEALTH_PORT}\n        names:\n" + "".join(
        f"          - {name}\n" for name in bus_services()
    )
