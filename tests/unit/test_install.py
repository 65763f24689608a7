"""Installing honours what the machine configures for pip."""

import importlib.util
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("install", Path("tools/install.py"))
assert spec
assert spec.loader
install = importlib.util.module_from_spec(spec)
spec.loader.exec_module(install)


def test_pips_settings_are_read_with_the_environment_above_the_files() -> None:
    listing = (
        ":env:.find-links='/wheels'\nglobal.find-links='/old'\nglobal.index-url='https://x/simple'\n"
        "global.cert='/ca.crt'\n"
    )
    assert install.pip_settings(listing) == {
        "find-links": "/wheels", "index-url": "https://x/simple", "cert": "/ca.crt",
    }  # fmt: skip


def test_uv_is_told_under_its_own_names_and_keeps_what_it_was_told_before() -> None:
    settings = {"extra-index-url": "https://a https://b", "find-links": "/w /v", "timeout": "3"}
    environment = install.uv_environment(settings, {"UV_INDEX": "https://mine"})
    assert environment["UV_INDEX"] == "https://mine"
    assert environment["UV_FIND_LINKS"] == "/w,/v"
    assert "timeout" not in environment


LOCK = """\
numpy==2.4.6 ; python_full_version < '3.12' \\
    --hash=sha256:aa
numpy==2.5.5 ; python_full_version >= '3.12' \\
    --hash=sha256:bb
pandas==3.1.0 \\
    --hash=sha256:cc
"""


def test_an_extra_installs_its_own_entries_of_the_lock_with_their_hashes() -> None:
    assert install.locked(LOCK, {"numpy"}) == LOCK[: LOCK.index("pandas")]


def test_a_package_that_the_lock_does_not_hold_is_named() -> None:
    with pytest.raises(ValueError, match=r"does not hold polars, scipy: run `make locks`"):
        install.locked(LOCK, {"numpy", "scipy", "polars"})
