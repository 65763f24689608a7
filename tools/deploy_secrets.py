"""Create the secrets of a deployment: bus keys, certificates, password, tokens."""

import argparse
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import key_names
from biaswatch.shared.contracts.providers import key_variables
from biaswatch.shared.errors import BiaswatchError, UsageError

VALUES = Path(__file__).parents[1] / "deploy" / "helm" / "biaswatch" / "values.yaml"
PASSWORD = "postgres_password"  # noqa: S105 - the name of a file
PROVIDER_KEYS = tuple(f"biaswatch_{name.lower()}" for name in key_variables())
DATABASE = "postgresql://biaswatch:{password}@{host}:5432/biaswatch"
BUS_NAMES = "DNS:nats,DNS:nats-headless,DNS:*.nats-headless,DNS:localhost,IP:127.0.0.1"
TLS = ("ca.crt", "tls.crt", "tls.key")
KUBERNETES = "kubernetes.yaml"


def service_secrets() -> dict[str, list[str]]:
    """Names of the secret files of each service, beside its key on the bus."""
    services = yaml.safe_load(VALUES.read_text())["services"]
    return {
        name: ["biaswatch_store_url", *service.get("secrets", [])]
        for name, service in services.items()
    }


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
    names = {name for files in service_secrets().values() for name in files}
    for name in {PASSWORD, *names} - {*PROVIDER_KEYS, "biaswatch_store_url"}:
        write_once(directory / name, secrets.token_urlsafe(32))
    for name in PROVIDER_KEYS:  # empty until a key is put in
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
    """Return the Secrets of the manifests, one for each service."""

    def text(name: str) -> str:
        return (directory / name).read_text()

    secrets_by_name = {
        f"biaswatch-{service}": {
            "nats.seed": text(f"{service}.seed"),
            **{name: text(name) for name in files},
        }
        for service, files in service_secrets().items()
    }
    store = {"biaswatch_store_url": text("biaswatch_store_url")}
    secrets_by_name["biaswatch-operator"] = {"nats.seed": text("operator.seed"), **store}
    secrets_by_name["biaswatch-dropin"] = {"nats.seed": text("dropin.seed")}
    token = text("biaswatch_gateway_operator_token")
    secrets_by_name["biaswatch-operator-token"] = {"biaswatch_operator_token": token}
    secrets_by_name["nats-authorization"] = {"authorization.conf": text("authorization.conf")}
    secrets_by_name["nats-tls"] = {name: text(name) for name in TLS}
    secrets_by_name["postgres"] = {PASSWORD: text(PASSWORD)}
    objects = [_secret(name, values) for name, values in secrets_by_name.items()]
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
