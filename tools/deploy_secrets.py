"""Create the secrets of a deployment: bus keys, certificates, password, tokens."""

import argparse
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import key_names, server_config
from biaswatch.shared.errors import BiaswatchError, UsageError
from tools.deployment.compose import PASSWORD
from tools.deployment.services import (
    GATEWAY_OPERATOR_TOKEN,
    OPERATOR_SECRET,
    OPERATOR_TOKEN,
    PROVIDER_KEYS,
    bus_services,
    secrets_of,
)

DATABASE = "postgresql://biaswatch:{password}@{host}:5432/biaswatch"
BUS_NAMES = "DNS:nats,DNS:nats-headless,DNS:*.nats-headless,DNS:localhost,IP:127.0.0.1"
TLS = ("ca.crt", "tls.crt", "tls.key")
KUBERNETES = "kubernetes.yaml"


def write_once(path: Path, text: str) -> None:
    """Write a file unless it exists."""
    if not path.exists():
        path.write_text(text)


def write_secrets(directory: Path, database_host: str) -> None:
    """Create the missing files in a directory that only its owner may enter."""
    public = ensure_keys(directory, key_names())
    directory.chmod(0o700)
    authorization = directory / "authorization.conf"
    authorization.unlink(missing_ok=True)  # derived from the keys, and read-only
    authorization.write_text(server_config(public))
    names = {name for service in bus_services() for name in secrets_of(service)}
    for name in {PASSWORD, *names} - {*PROVIDER_KEYS, "biaswatch_store_url"}:
        write_once(directory / name, secrets.token_urlsafe(32))
    for name in PROVIDER_KEYS:  # empty, until somebody puts theirs in
        write_once(directory / name, "")
    password = (directory / PASSWORD).read_text().strip()
    write_once(
        directory / "biaswatch_store_url", DATABASE.format(password=password, host=database_host)
    )


def certificates(directory: Path) -> None:
    """Create a certificate authority and the bus's certificate, unless there is one."""
    if (directory / "tls.crt").exists():
        return
    if shutil.which("openssl") is None:
        raise UsageError("openssl is not installed. It creates the bus's certificate: install it.")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl(
        directory, "req", "-x509", *key, "-days", "3650", "-subj", "/CN=biaswatch bus authority",
        "-keyout", "ca.key", "-out", "ca.crt",
    )  # fmt: skip
    openssl(
        directory, "req", *key, "-subj", "/CN=nats", "-addext", f"subjectAltName={BUS_NAMES}",
        "-addext", "extendedKeyUsage=serverAuth,clientAuth", "-keyout", "tls.key",
        "-out", "tls.csr",
    )  # fmt: skip
    openssl(
        directory, "x509", "-req", "-in", "tls.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
        "-CAcreateserial", "-days", "825", "-copy_extensions", "copy", "-out", "tls.crt",
    )  # fmt: skip


def openssl(directory: Path, *words: str) -> None:
    """Run openssl in a directory."""
    subprocess.run(["openssl", *words], cwd=directory, check=True, capture_output=True)


def kubernetes(directory: Path) -> str:
    """Return the Secrets that the manifests name, each with what one service may know."""

    def text(name: str) -> str:
        return (directory / name).read_text()

    found = {
        f"biaswatch-{service}": {
            "nats.seed": text(f"{service}.seed"),
            **{name: text(name) for name in secrets_of(service)},
        }
        for service in bus_services()
    }
    store = {"biaswatch_store_url": text("biaswatch_store_url")}
    found["biaswatch-operator"] = {"nats.seed": text("operator.seed"), **store}
    found["biaswatch-dropin"] = {"nats.seed": text("dropin.seed")}
    found[OPERATOR_SECRET] = {OPERATOR_TOKEN: text(GATEWAY_OPERATOR_TOKEN)}
    found["nats-authorization"] = {"authorization.conf": text("authorization.conf")}
    found["nats-tls"] = {name: text(name) for name in TLS}
    found["postgres"] = {PASSWORD: text(PASSWORD)}
    objects = [_secret(name, values) for name, values in found.items()]
    return yaml.safe_dump_all(objects, sort_keys=False)


def _secret(name: str, values: dict[str, str]) -> dict[str, object]:
    meta = {"name": name, "labels": {"app.kubernetes.io/part-of": "biaswatch"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": values}


def main() -> int:
    """Write the secrets, or print in one sentence why not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--database-host", default="postgres")
    parser.add_argument("--kubernetes", action="store_true", help=f"write {KUBERNETES} as well")
    arguments = parser.parse_args()
    try:
        write_secrets(arguments.directory, arguments.database_host)
        if arguments.kubernetes:
            certificates(arguments.directory)
            path = arguments.directory / KUBERNETES
            path.unlink(missing_ok=True)
            path.write_text(kubernetes(arguments.directory))
    except (BiaswatchError, OSError) as error:
        sys.stderr.write(f"The secrets cannot be written to {arguments.directory}: {error}\n")
        return 2
    for path in arguments.directory.iterdir():
        # The user of a container must read them; on this machine the directory keeps others out.
        path.chmod(0o444)
    print(f"The secrets are in {arguments.directory}; keep them out of version control.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
