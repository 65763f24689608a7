"""The parts of docker-compose.yml and of Prometheus's settings that list the services."""

import re

from tools.deploying.services import PECULIAR, on_the_bus, peculiar, secrets_of
from tools.deploying.workloads import HEALTH_PORT

BY_HAND = {name for name, own in PECULIAR.items() if own.secrets or own.port} | {"extractor"}
"""What is peculiar to these stands in docker-compose.yml itself."""
PASSWORD = "postgres_password"  # noqa: S105 - the name of a file


def between(text: str, name: str, made: str) -> str:
    """Put what was made between the marks of this name."""
    start, end = f"# made: {name}\n", f"# end: {name}\n"
    if text.count(start) != 1 or text.count(end) != 1:
        raise SystemExit(f"There must be one `{start.strip()}` and one `{end.strip()}` after it.")
    pattern = re.compile(rf"({re.escape(start)}).*?( *{re.escape(end)})", re.DOTALL)
    return pattern.sub(lambda found: found[1] + made + found[2], text)


def plain_services() -> str:
    """Return the services that need nothing but a key and the store."""
    return "".join(_service(name) for name in on_the_bus() if name not in BY_HAND)


def _service(name: str) -> str:
    variables = peculiar(name).variables
    own = "".join(f"      {variable}: ${{{variable}:-}}\n" for variable in variables)
    environment = f"\n      <<: *environment\n{own}" if own else " *environment\n"
    return (
        f"  {name}:\n    <<: *house\n"
        f"    image: ${{BIASWATCH_IMAGES:-biaswatch}}-{name}:${{BIASWATCH_VERSION:-dev}}\n"
        f"    environment:{environment}"
        "    secrets:\n"
        f"      - {{source: {name}_seed, target: nats.seed}}\n"
        "      - biaswatch_store_url\n\n"
    )


def secret_files() -> str:
    """Return where each secret lies."""
    names = dict.fromkeys(name for service in on_the_bus() for name in secrets_of(service))
    files = {f"{service}_seed": f"{service}.seed" for service in ("operator", *on_the_bus())}
    files |= {name: name for name in (PASSWORD, *names)}
    folder = "${BIASWATCH_SECRETS:-./deploy/secrets}"
    return "".join(f'  {name}: {{file: "{folder}/{file}"}}\n' for name, file in files.items())


def targets() -> str:
    """Return the names Prometheus looks every replica up by."""
    return f"        port: {HEALTH_PORT}\n        names:\n" + "".join(
        f"          - {name}\n" for name in on_the_bus()
    )
