"""Fixtures live in tests/support; this file only says where, and that examples are the same ones.

`--hypothesis-profile=default` looks for examples that nobody has tried.
"""

from hypothesis import HealthCheck, settings

pytest_plugins = [
    "pytester",
    "tests.support.bus",
    "tests.support.databases",
    "tests.support.answer_files",
    "tests.support.logs",
    "tests.support.recorded",
    "tests.support.skips",
    "tests.support.small_disk",
    "tests.support.snapshots",
]
# A busy machine is slow, and slowness is no counterexample.
settings.register_profile(
    "seeded", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("seeded")
