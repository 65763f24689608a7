"""Keys of services: an nkey pair each; the seed stays with the service."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import nkeys

from shared.errors import ConfigurationError


def new_seed() -> str:
    """Return the seed of a new user key; it is a secret."""
    seed: bytes = nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)
    return seed.decode()


def public_key(seed: str) -> str:
    """Return the public half, which the server's configuration names."""
    key: bytes = nkeys.from_seed(bytearray(seed.encode())).public_key
    return key.decode()


def ensure_keys(directory: Path, names: Iterable[str]) -> dict[str, str]:
    """Make `<name>.seed` for each name that has none yet, readable by its owner alone.

    Existing keys stay as they are: delete a file to have that key changed. Gives the public key of
    each name.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        return {name: public_key(_kept(directory / f"{name}.seed")) for name in names}
    except OSError as error:
        raise ConfigurationError(
            f"Keys cannot be kept in {directory} ({error.strerror}). Choose another directory."
        ) from None
    except nkeys.NkeysError:
        raise ConfigurationError(
            f"A key file in {directory} does not hold an nkey seed. Delete it to have it made anew."
        ) from None


def _kept(path: Path) -> str:
    if path.exists():
        return path.read_text().strip()
    seed = new_seed()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(seed + "\n")
    return seed
