"""What `diagnose` of a log and `ingest --history` say about each other, and users in two groups."""

from pathlib import Path
from typing import Any

from biaswatch.cli.ingest import other_conclusions_in_words
from biaswatch.diagnosis.log_remarks import log_remarks
from tests.support.odd_logs import measured_log, written_lines

AT = "2026-05-01T10:00:00Z"


def row(number: int, unit: str | None, group: str, **changed: Any) -> dict[str, Any]:
    return {"id": f"r{number}", "at": AT, "unit": unit, "text": "Fine.",
            "groups": {"grp": group}, **changed}  # fmt: skip


def test_a_user_in_both_groups_is_pointed_out() -> None:
    rows = [row(1, "u1", "a"), row(2, "u1", "b"), row(3, "u2", "a"), row(4, "u2", "a")]
    several, of_monitors = log_remarks(rows, ["grp", "other"])
    assert several.startswith("Users in several groups of grp: 1 of 2 (u1). Each of their answers")
    assert "(later ones here: 2 of 4)" in of_monitors


def test_a_log_that_no_monitor_could_read_is_not_compared() -> None:
    assert log_remarks([row(1, None, "a"), row(2, None, "b")], ["grp"]) == []
    assert log_remarks([row(1, "u", "a", at=None), row(2, "u", "a")], ["grp"]) == []


def test_users_with_one_answer_each_need_more_of_them_in_a_monitor() -> None:
    (of_monitors,) = log_remarks([row(1, "u", "a"), row(2, "v", "a")], ["grp"])
    assert "takes more users than one test" in of_monitors
    assert "later ones" not in of_monitors


def test_the_remarks_are_warnings_of_a_diagnosis(tmp_path: Path) -> None:
    rows = [row(n, f"u{n % 3}", "ab"[n % 2]) for n in range(12)]
    warnings = measured_log(written_lines(tmp_path / "log.jsonl", rows)).warnings
    assert [text.split(" ")[0] for text in warnings][-2:] == ["Users", "`ingest"]


class Evidence:
    number = "vader.sentiment"
    tolerance = 0.05


class View:
    evidence = (Evidence(), Evidence())


def test_a_history_says_why_a_diagnosis_may_conclude_otherwise() -> None:
    sentence = other_conclusions_in_words(Path("log.jsonl"), View())  # type: ignore[arg-type]
    assert sentence.startswith("`diagnose log.jsonl --extract` may conclude otherwise")
    assert (
        "(here: vader.sentiment 0.05); and it corrects over its own comparisons (here: 2)"
        in sentence
    )
