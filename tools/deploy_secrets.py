"""Make what a deployment keeps secret: bus keys, the database's password, tokens; keep what is."""

import argparse
import secrets
import sys
from pathlib import Path

from shared.bus.jetstream.keys import keep_keys
from shared.bus.permissions import OPERATOR, server_config, services
from shared.errors import BiaswatchError

DATABASE = "postgresql://biaswatch:{password}@{host}:5432/biaswatch"
# Tokens are made; the keys of model providers stay empty until somebody puts theirs in.
MADE = ("postgres_password", "biaswatch_gateway_run_token", "biaswatch_gateway_read_token")
GIVEN = ("biaswatch_openai_api_key", "biaswatch_anthropic_api_key")


def keep(path: Path, text: str) -> None:
    """Write a file that is not there yet."""
    if not path.exists():
        path.write_text(text)


def write(directory: Path, database_host: str) -> None:
    """Make what is missing in a directory that its owner alone may enter."""
    public = keep_keys(directory, [*services(), OPERATOR])
    directory.chmod(0o700)
    authorization = directory / "authorization.conf"
    authorization.unlink(missing_ok=True)  # it follows the keys, and may not be written over
    authorization.write_text(server_config(public))
    for name in MADE:
        keep(directory / name, secrets.token_urlsafe(32))
    for name in GIVEN:
        keep(directory / name, "")
    password = (directory / "postgres_password").read_text().strip()
    keep(directory / "biaswatch_store_url", DATABASE.format(password=password, host=database_host))
    for path in directory.iterdir():
        # The user of a container must read them; on this machine the directory keeps others out.
        path.chmod(0o444)


def main() -> int:
    """Write the secrets, or say in one sentence why not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--database-host", default="postgres")
    asked = parser.parse_args()
    try:
        write(asked.directory, asked.database_host)
    except (BiaswatchError, OSError) as error:
        sys.stderr.write(f"The secrets cannot be kept in {asked.directory}: {error}\n")
        return 2
    print(f"The secrets are in {asked.directory}; keep them out of version control.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
