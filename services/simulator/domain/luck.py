"""Luck that depends on what it is for, never on when it is drawn."""

import hashlib
import json
from random import Random


def luck(seed: int, *purpose: str) -> Random:
    """Return the random numbers that belong to this seed and purpose, the same ones every time."""
    name = json.dumps([seed, *purpose]).encode()
    digest = hashlib.blake2b(name, digest_size=16).digest()
    return Random(int.from_bytes(digest))  # noqa: S311 - a simulation, not a secret


def dithered(value: float, step: float, rng: Random) -> float:
    """Round to a multiple of `step`, up or down by chance, so that the mean stays where it was."""
    steps, rest = divmod(value, step)
    return round((steps + (rng.random() < rest / step)) * step, 6)
