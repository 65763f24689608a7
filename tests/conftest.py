"""Fixtures live in tests/support; this file only says where, and that examples are the same ones.

`--hypothesis-profile=default` looks for examples that nobody has tried.
"""

from hypothesis import settings

pytest_plugins = [
    "pytester",
    "tests.support.bus",
    "tests.support.databases",
    "tests.support.recorded",
    "tests.support.skips",
]
settings.register_profile("seeded", derandomize=True)
settings.load_profile("seeded")
