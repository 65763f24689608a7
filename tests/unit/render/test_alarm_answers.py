"""Answers behind an alarm on a terminal: their ids, users, questions and texts."""

from io import StringIO

from rich.console import Console

from biaswatch.render.monitors import print_alarm
from biaswatch.shared.requests.monitor_views import AlarmView, TwinAnswer, TwinsView
from tests.support.records import make_alarm


def answer(name: str, group: str) -> TwinAnswer:
    return TwinAnswer(
        response_id=f"r-{name}", unit=f"user-{name}", group=group, asked=f"May {name} come?",
        answered=f"Yes, {name}.",
    )  # fmt: skip


def test_an_answer_is_shown_with_its_id_its_user_and_its_question() -> None:
    pair = TwinsView(set_id="09:00", gap=1.0, a=[answer("Ann", "en")], b=[answer("Bea", "de")])
    output = StringIO()
    print_alarm(AlarmView(alarm=make_alarm(), twins=[pair]), Console(file=output, width=100))
    for text in ("r-Ann, user-Ann", "> May Ann come?", "Yes, Bea."):
        assert text in output.getvalue()
