"""Fixtures live in shared/testing; this file only says where."""

pytest_plugins = ["shared.testing.bus", "shared.testing.databases", "shared.testing.recorded"]
