"""A window is read once the queue of answers is past what it held when the window fell due."""

from biaswatch.services.planner.domain import IntakeCuts


def test_a_window_waits_for_what_the_queue_had_taken_and_for_nothing_that_came_later() -> None:
    cuts = IntakeCuts()
    assert not cuts.handled("monitor", "noon", first=8, last=10)
    assert not cuts.handled("monitor", "noon", first=10, last=500)
    assert cuts.handled("monitor", "noon", first=11, last=9000)


def test_an_empty_queue_holds_up_nothing() -> None:
    assert IntakeCuts().handled("monitor", "noon", first=1, last=0)
    assert IntakeCuts().handled("monitor", "noon", first=501, last=500)


def test_every_window_has_a_cut_of_its_own() -> None:
    cuts = IntakeCuts()
    assert cuts.handled("monitor", "noon", first=11, last=10)
    assert not cuts.handled("monitor", "one o'clock", first=11, last=12)
    assert not cuts.handled("other", "noon", first=11, last=12)
    assert cuts.handled("monitor", "one o'clock", first=13, last=12)


def test_a_planner_that_was_started_again_waits_for_more_and_never_for_less() -> None:
    before, after = IntakeCuts(), IntakeCuts()
    assert not before.handled("monitor", "noon", first=8, last=10)
    assert not after.handled("monitor", "noon", first=11, last=12)
    assert after.handled("monitor", "noon", first=13, last=12)
