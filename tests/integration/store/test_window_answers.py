"""Accounts of production answers: each sending is in one, however often anything is repeated."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from biaswatch.shared.contracts import (
    AnswerAccounts,
    FirstSending,
    MemberAccounts,
    MonitoredWindow,
    SentAnswer,
    Window,
    derived_id,
)
from biaswatch.shared.contracts.identity import id_beginning_with
from biaswatch.shared.store import Store

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MONITOR = "b" * 32


def window(number: int = 0) -> MonitoredWindow:
    begins = NOON + number * HOUR
    run_id = derived_id("run", number)
    return MonitoredWindow(run_id, MONITOR, Window(begins=begins, ends=begins + HOUR))


def sent(
    number: int, sending: int = 0, *, of: int = 0, late: bool = False, place: int = 0
) -> SentAnswer:
    answer_id = derived_id("response", number)
    return SentAnswer(window(of), answer_id, response_id(number, place), str(sending), late)


def response_id(number: int, place: int = 0) -> str:
    return id_beginning_with(f"{place:016x}", derived_id("response", number))


def accounts(store: Store) -> dict[str, int]:
    result = store.window_answers.accounts(MONITOR)
    return {name: count for name, count in result if count}


def test_a_redelivery_is_returned_again_and_counted_once(store: Store) -> None:
    batch = [sent(n) for n in range(3)]
    first = store.window_answers.take(batch)
    assert store.window_answers.take(batch) == first
    assert first == {item.key: FirstSending(item.sending, item.response_id) for item in batch}
    assert accounts(store) == {"waiting": 3}


def test_what_is_sent_again_is_a_duplicate_once_and_is_not_returned(store: Store) -> None:
    store.window_answers.take([sent(0), sent(0, 1)])
    for _ in range(2):
        again = store.window_answers.take([sent(0, 2), sent(1, 2)])
        assert {key[1]: first.sending for key, first in again.items()} == {
            derived_id("response", 0): "0",
            derived_id("response", 1): "2",
        }
    assert accounts(store) == {"waiting": 2, "duplicate": 2}


def test_an_answer_sent_again_with_another_time_is_the_one_that_came_first(store: Store) -> None:
    store.window_answers.take([sent(0, place=7)])
    again = store.window_answers.take([sent(0, 1, place=9)])
    assert list(again.values()) == [FirstSending("0", response_id(0, 7))]
    store.window_answers.fix(window(), NOON + HOUR)
    assert list(store.window_answers.members(window().run_id) or ()) == [response_id(0, 7)]


def test_members_are_read_in_the_order_in_which_they_were_said(store: Store) -> None:
    store.window_answers.take([sent(n, place=99 - n) for n in range(20)])
    store.window_answers.fix(window(), NOON + HOUR)
    result, reached = [], ""
    while some := store.window_answers.members_after(window().run_id, reached, 6):
        result += some
        reached = some[-1]
    assert result == [response_id(n, 99 - n) for n in reversed(range(20))]


def test_the_list_of_members_is_fixed_once_and_what_comes_after_it_is_late(store: Store) -> None:
    store.window_answers.take([sent(0), sent(1), sent(2, late=True)])
    assert store.window_answers.members(window().run_id) is None
    assert store.window_answers.fix(window(), NOON + HOUR) == 2
    members = list(store.window_answers.members(window().run_id) or ())
    assert set(members) == {response_id(n) for n in (0, 1)}
    store.window_answers.take([sent(3), sent(0, 9)])
    assert store.window_answers.fix(window(), NOON + 9 * HOUR) == 2
    assert list(store.window_answers.members(window().run_id) or ()) == members
    assert accounts(store) == {"waiting": 2, "late": 2, "duplicate": 1}
    [result] = store.window_answers.latest(MONITOR, 5)
    assert result.fixed_at == NOON + HOUR


def test_settling_moves_the_members_and_can_be_repeated(store: Store) -> None:
    store.window_answers.take([sent(n) for n in range(3)])
    store.window_answers.fix(window(), NOON + HOUR)
    for _ in range(2):
        store.window_answers.settle(window().run_id, MemberAccounts(evidence=2, described=1))
    assert accounts(store) == {"evidence": 2, "described": 1}


def test_windows_that_are_passed_over_have_late_answers_and_take_no_more(store: Store) -> None:
    store.window_answers.take([sent(0), sent(1, of=1), sent(2, of=2)])
    store.window_answers.fix(window(0), NOON + HOUR)
    assert store.window_answers.pass_over(MONITOR, NOON + 2 * HOUR, NOON + 3 * HOUR) == 1
    assert store.window_answers.pass_over(MONITOR, NOON + 2 * HOUR, NOON + 3 * HOUR) == 0
    store.window_answers.take([sent(5, of=1)])
    assert accounts(store) == {"waiting": 2, "late": 2}
    result = store.window_answers.next_unread(MONITOR, NOON)
    assert result == window(2).window


def test_refusals_are_counted_once_for_each_sending(store: Store) -> None:
    for _ in range(2):
        store.window_answers.refuse([sent(0), sent(0, 1)])
    store.window_answers.count_refused({window(1): 500})
    assert accounts(store) == {"refused": 502}


def test_writers_at_once_agree_on_what_came_first(store: Store) -> None:
    def take(sending: int) -> int:
        batch = [sent(n, sending) for n in range(50)]
        first = store.window_answers.take(batch)
        return sum(first[item.key].sending == item.sending for item in batch)

    with ThreadPoolExecutor(4) as pool:
        first = sum(pool.map(take, range(4)))
    assert first == 50
    assert accounts(store) == {"waiting": 50, "duplicate": 150}


def test_the_accounts_add_up_to_what_was_sent() -> None:
    result = AnswerAccounts(evidence=3, late=2, without_text=1)
    assert result.sent == 6
    assert result.in_words == "3 evidence, 1 without text, 2 late"
