"""Make what a deployment keeps secret: bus keys, certificates, password, tokens; keep what is."""

import argparse
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from shared.bus.jetstream.keys import ensure_keys
from shared.bus.permissions import key_names, server_config
from shared.errors import BiaswatchError, UsageError
from tools.deploying.compose import PASSWORD
from tools.deploying.services import on_the_bus, secrets_of

DATABASE = "postgresql://biaswatch:{password}@{host}:5432/biaswatch"
GIVEN = ("biaswatch_openai_api_key", "biaswatch_anthropic_api_key")
"""The keys of model providers stay empty until somebody puts theirs in; the rest is made."""
BUS_NAMES = "DNS:nats,DNS:nats-headless,DNS:*.nats-headless,DNS:localhost,IP:127.0.0.1"
TLS = ("ca.crt", "tls.crt", "tls.key")
KUBERNETES = "kubernetes.yaml"


def keep(path: Path, text: str) -> None:
    """Write a file that is not there yet."""
    if not path.exists():
        path.write_text(text)


def write(directory: Path, database_host: str) -> None:
    """Make what is missing in a directory that its owner alone may enter."""
    public = ensure_keys(directory, key_names())
    directory.chmod(0o700)
    authorization = directory / "authorization.conf"
    authorization.unlink(missing_ok=True)  # it follows the keys, and may not be written over
    authorization.write_text(server_config(public))
    names = {name for service in on_the_bus() for name in secrets_of(service)}
    for name in {PASSWORD, *names} - {*GIVEN, "biaswatch_store_url"}:
        keep(directory / name, secrets.token_urlsafe(32))
    for name in GIVEN:
        keep(directory / name, "")
    password = (directory / PASSWORD).read_text().strip()
    keep(directory / "biaswatch_store_url", DATABASE.format(password=password, host=database_host))


def certificates(directory: Path) -> None:
    """Make an authority and the bus's certificate, unless there is one."""
    if (directory / "tls.crt").exists():
        return
    if shutil.which("openssl") is None:
        raise UsageError("openssl makes the bus's certificate, and it is not installed.")
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
    """Return the Secrets the manifests refer to, each with what one service may know."""

    def text(name: str) -> str:
        return (directory / name).read_text()

    found = {
        f"biaswatch-{service}": {
            "nats.seed": text(f"{service}.seed"),
            **{name: text(name) for name in secrets_of(service)},
        }
        for service in on_the_bus()
    }
    store = {"biaswatch_store_url": text("biaswatch_store_url")}
    found["biaswatch-operator"] = {"nats.seed": text("operator.seed"), **store}
    found["nats-authorization"] = {"authorization.conf": text("authorization.conf")}
    found["nats-tls"] = {name: text(name) for name in TLS}
    found["postgres"] = {PASSWORD: text(PASSWORD)}
    objects = [_secret(name, values) for name, values in found.items()]
    return yaml.safe_dump_all(objects, sort_keys=False)


def _secret(name: str, values: dict[str, str]) -> dict[str, object]:
    meta = {"name": name, "labels": {"app.kubernetes.io/part-of": "biaswatch"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": values}


def main() -> int:
    """Write the secrets, or say in one sentence why not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--database-host", default="postgres")
    parser.add_argument("--kubernetes", action="store_true", help=f"write {KUBERNETES} as well")
    asked = parser.parse_args()
    try:
        write(asked.directory, asked.database_host)
        if asked.kubernetes:
            certificates(asked.directory)
            path = asked.directory / KUBERNETES
            path.unlink(missing_ok=True)
            path.write_text(kubernetes(asked.directory))
    except (BiaswatchError, OSError) as error:
        sys.stderr.write(f"The secrets cannot be kept in {asked.directory}: {error}\n")
        return 2
    for path in asked.directory.iterdir():
        # The user of a container must read them; on this machine the directory keeps others out.
        path.chmod(0o444)
    print(f"The secrets are in {asked.directory}; keep them out of version control.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
