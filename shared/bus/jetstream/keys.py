"""Keys of services: one nkey pair each; only the service itself holds the seed."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import nkeys

from biaswatch.shared.errors import ConfigurationError


def new_seed() -> str:
    """Return the seed of a new user key: a secret."""
    seed: bytes = nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)
    return seed.decode()


def public_key(seed: str) -> str:
    """Return the public key, which the server's configuration names."""
    key: bytes = nkeys.from_seed(bytearray(seed.encode())).public_key
    return key.decode()


def ensure_keys(directory: Path, names: Iterable[str]) -> dict[str, str]:
    """Create `<name>.seed` for each name that has none, readable by its owner alone.

    Existing keys stay: delete a file to replace its key. Return the public key of each name.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        return {name: public_key(_seed_at(directory / f"{name}.seed")) for name in names}
    except OSError as error:
        raise ConfigurationError(
            f"Keys cannot be written to {directory} ({error.strerror}). Choose another directory."
        ) from None
    except nkeys.NkeysError:
        raise ConfigurationError(
            f"A key file in {directory} does not hold an nkey seed. Delete it to create a new one."
        ) from None


def _seed_at(path: Path) -> str:
    if path.exists():
        return path.read_text().strip()
    seed = new_seed()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(seed + "\n")
    return seed
