"""No command, option or Python name changes unnoticed."""

from tests.support.public_surface import COMMITTED, text


def test_every_public_name_is_the_committed_one() -> None:
    changed = set(COMMITTED.read_text().splitlines()) ^ set(text().splitlines())
    assert not changed, (
        "Names that users rely on have changed. If that is intended, run"
        " `python -m tests.support.public_surface` and describe it in CHANGELOG.md."
    )
