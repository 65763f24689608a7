"""Nothing that others rely on by name changes unnoticed."""

import json

from tests.support.public_surface import COMMITTED, text


def test_every_public_name_is_the_committed_one() -> None:
    committed, now = json.loads(COMMITTED.read_text()), json.loads(text())
    changed = {
        f"{where}: {name}"
        for where in committed.keys() | now.keys()
        for name in _differing(committed.get(where, {}), now.get(where, {}))
    }
    assert not changed, (
        "Names that users rely on have changed. Where that is meant, run"
        " `python -m tests.support.public_surface` and tell it in CHANGELOG.md."
    )


def _differing(one: object, other: object) -> set[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        names = one.keys() | other.keys()
        return {name for name in names if one.get(name) != other.get(name)}
    return set() if one == other else {"the list"}
