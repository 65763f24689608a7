"""Fixtures live in shared/testing; this file only says where, and that examples are the same ones.

`--hypothesis-profile=default` looks for examples that nobody has tried.
"""

from hypothesis import settings

pytest_plugins = ["shared.testing.bus", "shared.testing.databases", "shared.testing.recorded"]
settings.register_profile("seeded", derandomize=True)
settings.load_profile("seeded")
