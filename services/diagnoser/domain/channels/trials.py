"""The alarm that tries a channel: it looks like any other, and says that it is none."""

from biaswatch.shared.contracts import Alarm, AlarmKind, AlarmState, Estimate, Purpose
from biaswatch.shared.contracts.alarm import AlarmDelivery

MONITOR = "trial-of-a-channel"


def trial_alarm(delivery: AlarmDelivery) -> Alarm:
    """Return the alarm that is sent to try a channel."""
    return Alarm(
        tenant=delivery.tenant,
        purpose=Purpose.MONITOR,
        at=delivery.at,
        monitor_id=delivery.alarm_id,
        monitor=MONITOR,
        epoch=0,
        round=0,
        run_id=delivery.alarm_id,
        comparison_key="words.words:group:first-second",
        title="words: first less second, by group",
        what=AlarmKind.DISPARITY,
        state=AlarmState.RAISED,
        reason="this is a trial of the channel, and no alarm: nothing was found",
        gap=Estimate(value=0.0),
        log_evidence=0.0,
        channels=(delivery.channel,),
    )
