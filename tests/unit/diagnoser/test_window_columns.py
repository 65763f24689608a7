"""A window of traffic lies in files, sorted by user and time; its answers are not held."""

import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors import traffic_matching, window_columns, window_writing
from biaswatch.shared.analysis.monitors.traffic import (
    Entrants,
    accounts_of,
    means_by_user,
    window_descriptions,
)
from biaswatch.shared.analysis.monitors.traffic_matching import count_users
from biaswatch.shared.analysis.monitors.window_writing import (
    MemberReading,
    WindowAnswer,
    WindowWriter,
)
from biaswatch.shared.contracts import Traffic
from tests.support.traffic_streams import BEGIN, GENDER, comparison_of
from tests.support.window_rows import TrafficAnswer, columns_of, entrants_of, plan_of
from tests.unit.diagnoser.test_traffic_matching import COMPARISON, HOURLY, heard

FEW, MANY = 4_000, 12_000
PART = 200
MATCHED = comparison_of(COMPARISON.watched.method)
PLAN = plan_of(MATCHED, Traffic(window_s=86400))


def read_at_once(rows: int, patch: pytest.MonkeyPatch) -> None:
    """Let so many rows be in memory together."""
    for module in (window_columns, window_writing, traffic_matching):
        patch.setattr(module, "AT_ONCE", rows)
    patch.setattr(traffic_matching, "USERS_PER_CHUNK", rows)


def answers(amount: int) -> Iterator[list[WindowAnswer]]:
    rng = np.random.default_rng(1)
    for begin in range(0, amount, PART):
        yield [
            WindowAnswer(
                key=f"an answer with a long name {n}",
                user=f"a user with a long name {rng.integers(amount)}",
                groups={GENDER.dimension: ("female", "male")[n % 2]},
                readings={"refusal": MemberReading({"refused": float(rng.integers(2))})},
                answered_at=BEGIN + timedelta(seconds=float(rng.uniform(0, 86400))),
                response_id=f"{n:032x}",
            )
            for n in range(begin, begin + PART)
        ]


def most_bytes(amount: int) -> int:
    """Return the most that is in memory while a window of so many answers is counted."""
    with ExitStack() as files:
        writer = WindowWriter(PLAN, lambda: files.enter_context(TemporaryFile()))
        tracemalloc.start()
        for part in answers(amount):
            writer.add(part)
        window = writer.columns()
        everybody = np.ones(window.users, dtype=np.bool_)
        who = Entrants(new=everybody, known=~everybody, mixed=~everybody)
        _, used = count_users(MATCHED, window, who, Traffic(window_s=86400))
        accounts_of(window, PLAN.comparisons, used)
        window_descriptions(PLAN, window, {}, {})
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most


def test_an_answer_more_in_a_window_takes_a_few_numbers_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_at_once(PART, monkeypatch)
    most_bytes(PART)
    assert (most_bytes(MANY) - most_bytes(FEW)) / (MANY - FEW) < 110


def test_how_many_answers_are_read_at_once_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [
        heard("fm"[n % 2] + str(n % 40), n % 11 * 5, n % 10, key=f"{n}", response_id=f"{n:032x}")
        for n in range(200)
    ]
    seen += [replace(item, user=None, key=f"{item.key} nobody") for item in seen[:20]]
    at_once = _counted(seen)
    read_at_once(7, monkeypatch)
    assert at_once == _counted(seen[::-1])


def _counted(seen: list[TrafficAnswer]) -> tuple[object, ...]:
    plan = plan_of(COMPARISON, HOURLY)
    window = columns_of(plan, seen)
    who = entrants_of(window, {item.user for item in seen if item.user})
    result, used = count_users(COMPARISON, window, who, HOURLY)
    accounts = accounts_of(window, plan.comparisons, used)
    return result, accounts, window_descriptions(plan, window, {}, {})


def test_a_users_answers_of_one_moment_are_in_the_order_of_their_names() -> None:
    seen = [heard("f1", 0, 1, key=key) for key in ("c", "a", "b")] + [heard("f1", -1, 1, key="z")]
    window = columns_of(plan_of(COMPARISON, HOURLY), seen)
    assert [seen[place].key for place in window.members] == ["z", "a", "b", "c"]


def test_texts_of_any_letters_are_read_back(tmp_path: Path) -> None:
    names = ["", "ann", "Jürgen", "日本", "", "a\0b"]
    with (tmp_path / "texts").open("w+b") as texts, (tmp_path / "ends").open("w+b") as ends:
        column = window_columns.TextColumn(texts, ends)
        column.append(names[:2])
        column.append([])
        column.append(names[2:])
        assert [column[place] for place in range(len(names))] == names


def test_the_mean_of_a_users_numbers_is_rounded_once() -> None:
    values = np.array([0.1] * 10 + [1e16, 1.0, -1e16] + [0.1, 0.2, -0.0])
    users = np.array([0] * 10 + [1] * 3 + [2] * 2 + [3])
    codes, means = means_by_user(users, values)
    assert codes.tolist() == [0, 1, 2, 3]
    assert means.tolist() == [0.1, 1 / 3, (0.1 + 0.2) / 2, 0.0]
