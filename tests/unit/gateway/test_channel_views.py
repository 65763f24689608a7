"""A channel that does not take alarms is named while they still wait."""

import pytest

from biaswatch.shared.contracts.alarm_delivery import DeliveryState
from biaswatch.shared.requests.platform import ChannelView


@pytest.mark.parametrize(
    ("alarms", "failure", "sentence"),
    [
        ({DeliveryState.DELIVERED: 4}, "no answer", None),
        ({DeliveryState.WAITING: 1}, None, None),
        ({DeliveryState.WAITING: 1}, "no answer", "team: 1 waiting, tried again (no answer)."),
        ({DeliveryState.EXPIRED: 2}, None, "team: 2 within seven days (it was unavailable)."),
    ],
)
def test_alarms_that_do_not_arrive_are_named(
    alarms: dict[DeliveryState, int], failure: str | None, sentence: str | None
) -> None:
    view = ChannelView(name="team", status=None, alarms=alarms, last_failure=failure)
    assert (view.undelivered() or "").startswith(sentence or "")
    assert (view.undelivered() is None) == (sentence is None)
