"""The notifier's composition root."""

import sys
from collections.abc import Callable
from datetime import datetime

from biaswatch.services.notifier.channels.alertmanager import RESEND_INTERVAL_S
from biaswatch.services.notifier.handlers.deliveries import DeliverAlarms, ResendAlerts
from biaswatch.services.notifier.handlers.operator_channels import (
    AnnounceChannels,
    operator_channels,
)
from biaswatch.services.notifier.settings import NotifierSettings, variable
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import Alarm
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store


def build(settings: NotifierSettings, clock: Callable[[], datetime] = now) -> Service:
    """Return the notifier on the store its settings name; the clock dates its deliveries."""
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    channels = operator_channels(
        settings.notifier_channels_file,
        variable,
        private_hosts=settings.notifier_private_hosts,
        dashboard_url=settings.notifier_dashboard_url,
    )
    deliver = DeliverAlarms(store, channels, now=clock)
    alerts = ResendAlerts(store, channels, now=clock)
    announce = AnnounceChannels(store, channels, now=clock)

    delivery_s, gauge_s = settings.notifier_delivery_s, settings.notifier_gauge_s
    return Service(
        "notifier",
        settings,
        stages=[Stage("notifier", Alarm, deliver)],
        jobs=[
            Job(deliver.run_once, "send alarms", every_s=delivery_s, close=deliver.close),
            Job(alerts.run_once, "send standing alarms again", every_s=RESEND_INTERVAL_S),
            Job(announce.show, "announce channels", every_s=gauge_s),
        ],
        check_store=store.check_available,
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(NotifierSettings, build))
