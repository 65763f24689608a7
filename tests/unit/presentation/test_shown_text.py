"""On every surface a name that hides or turns characters is seen for what it is."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markupsafe import escape
from rich.console import Console

from biaswatch.building.quality_report import _cell
from biaswatch.local.runs import RunResults
from biaswatch.render.figures import draw
from biaswatch.render.report import ReportFormat, report_text
from biaswatch.render.report_markdown import as_csv, as_markdown
from biaswatch.render.run_results import print_diagnoses
from biaswatch.services.gateway.dashboard.rendering import _environment, page
from biaswatch.services.notifier.channels.alertmanager import AlertmanagerChannel, alerts_of
from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, GroupSummary, Verdict
from biaswatch.shared.foreign_text import isolated, on_one_line, shown, visible
from biaswatch.shared.presentation.alarm_messages import message_of
from tests.support.records import make_alarm, make_diagnosis, make_progress

TURNED = "\u202eelam\u202c"
"""Read from right to left it is another group: male."""
SEEN = "⟨U+202E⟩elam⟨U+202C⟩"
HEBREW, ARABIC = "גבר", "رجل"
RUN = make_progress(suite="suite")


def diagnosis() -> Diagnosis:
    gap = Gap(a=TURNED, b=HEBREW, gap=Estimate(value=0.5), verdict=Verdict.INCONCLUSIVE)
    groups = tuple(
        GroupSummary(group=name, mean=Estimate(value=1.0), units=3, responses=3, missing=0)
        for name in (TURNED, HEBREW)
    )
    return make_diagnosis(gaps=(gap,), groups=groups)


def names_are_seen(text: str) -> bool:
    plain = text.replace("\\", "")
    return SEEN in plain and "\u202e" not in text and f"\u2068{HEBREW}\u2069" in text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain, 0.5 [0.1, 0.9]\n\tnext", "plain, 0.5 [0.1, 0.9]\n\tnext"),
        (TURNED, SEEN),
        ("a\u200bb\u00adc\ufeff", "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+FEFF⟩"),
        ("\x1b[31m\x00\x9b\x7f", "⟨U+001B⟩[31m⟨U+0000⟩⟨U+009B⟩⟨U+007F⟩"),
        ("\u2068\u2066x\u2069", "⟨U+2068⟩⟨U+2066⟩x⟨U+2069⟩"),
        ("\U000e0041\ud800\uffff\U0001ffff", "⟨U+E0041⟩⟨U+D800⟩⟨U+FFFF⟩⟨U+1FFFF⟩"),
        ("a\u00a0b\u2028c\u3000", "a b c "),
        ("क्‍ष 👩‍👩‍👧 é", "क्‍ष 👩‍👩‍👧 é"),
    ],
)
def test_every_character_is_seen(text: str, seen: str) -> None:
    assert visible(text) == seen
    assert "\n" not in on_one_line(text)


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        (f"{HEBREW} minus {ARABIC}: 0.3", f"<{HEBREW}> minus <{ARABIC}>: 0.3"),
        (f"{HEBREW} - {ARABIC}", f"<{HEBREW}> - <{ARABIC}>"),
        (f"{HEBREW} {HEBREW} (n=3)", f"<{HEBREW} {HEBREW}> (n=3)"),
        ("٣ of ٤", "<٣> of <٤>"),
        ("male - female", "male - female"),
        ("é - ü", "é - ü"),
    ],
)
def test_words_from_right_to_left_turn_nothing_beside_them(text: str, apart: str) -> None:
    assert isolated(text) == apart.replace("<", "\u2068").replace(">", "\u2069")


def test_reading_a_text_takes_time_in_step_with_its_length() -> None:
    text = (HEBREW + " " * 50) * 4_000 + "x"
    assert shown(text).count("\u2068") == 1


def test_a_terminal_shows_names_for_what_they_are() -> None:
    console = Console(width=200)
    with console.capture() as text:
        print_diagnoses(console, [diagnosis()])
    assert names_are_seen(text.get())


def test_reports_show_names_for_what_they_are() -> None:
    results = RunResults(RUN, [diagnosis()])
    assert names_are_seen(as_markdown(results))
    html = report_text(ReportFormat.HTML, results, [])
    assert names_are_seen(html)


def test_a_csv_holds_names_as_they_are_for_programs() -> None:
    [row] = csv.DictReader(as_csv(RunResults(RUN, [diagnosis()])).splitlines())
    assert (row["a"], row["b"]) == (TURNED, HEBREW)


def test_pages_show_whatever_a_template_says_for_what_it_is() -> None:
    template = _environment().from_string(
        "{{ name }} {{ name | breakable }} {{ other }} {{ 3 }} {{ name | reply }}"
    )
    text = template.render(name=TURNED, other=HEBREW)
    assert text.split() == [SEEN, SEEN, f"\u2068{HEBREW}\u2069", "3", SEEN]
    assert template.render(name="<i>", other="").split() == [
        *[str(escape("<i>"))] * 2,
        "3",
        str(escape("<i>")),
    ]
    form = _environment().from_string('<input value="{{ name | as_sent }}">')
    assert form.render(name=TURNED) == f'<input value="{TURNED}">'
    error = bytes(page("error.html", 404, sentence=f"There is no {TURNED} and no {HEBREW}.").body)
    assert names_are_seen(error.decode())


def test_pictures_show_names_for_what_they_are(tmp_path: Path) -> None:
    written = draw(RunResults(RUN, [diagnosis()]), tmp_path)
    texts = [path.read_text() for path in written if path.suffix == ".svg"]
    assert any(SEEN in text for text in texts)
    assert all("\u202e" not in text for text in texts)
    for text in texts:
        ElementTree.fromstring(text)  # noqa: S314 - our own file


def test_messages_of_channels_show_names_for_what_they_are() -> None:
    alarm = make_alarm(
        comparison_key=f"words:race:{TURNED}:{HEBREW}", reason=f"{TURNED} and {HEBREW}"
    )
    message = message_of(alarm, None)
    assert names_are_seen(message.title)
    assert names_are_seen(message.body)
    channel = AlertmanagerChannel(kind="alertmanager", url="https://am.example")
    [alert] = alerts_of([alarm], channel, alarm.at)
    assert names_are_seen(alert["annotations"]["summary"])
    assert "\u202e" not in str(alert["labels"])


def test_the_report_of_a_built_suite_shows_names_for_what_they_are() -> None:
    assert names_are_seen(_cell(f"{TURNED} {HEBREW}"))
