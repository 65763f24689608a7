"""HTML from escaped templates, and the static files that pages load."""

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import Element

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from biaswatch.services.gateway import dashboard
from biaswatch.services.gateway.auth import PAGE_HEADERS, SCRIPTED_HEADERS
from biaswatch.shared.contracts import Claim, GroupSummary
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.foreign_text import shown, visible
from biaswatch.shared.formatting import (
    UNDEFINED,
    number,
    number_name,
    p_equals,
    p_value,
    undetected_words,
)
from biaswatch.shared.presentation.answers import marked_words
from biaswatch.shared.presentation.forest_plots import forest_figure
from biaswatch.shared.presentation.glossary import GLOSSARY
from biaswatch.shared.presentation.svg import drawing_style, gap_text, markup
from biaswatch.shared.presentation.tables import Table, csv_of, words

UPLOT, UPLOT_STYLE = "uplot-1.6.32.min.js", "uplot-1.6.32.min.css"
MONITOR_CHARTS, GROUP_ROWS, LIVE = "monitor-charts.js", "group-rows.js", "live.js"
TABLES, ANSWERS, PRINT, START = "tables.js", "answers.js", "print.js", "start.js"
SCRIPT, STYLE = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
MEDIA_TYPES = {
    UPLOT: SCRIPT,
    UPLOT_STYLE: STYLE,
    "uplot-1.6.32.LICENSE.txt": "text/plain; charset=utf-8",
    MONITOR_CHARTS: SCRIPT,
    GROUP_ROWS: SCRIPT,
    LIVE: SCRIPT,
    TABLES: SCRIPT,
    ANSWERS: SCRIPT,
    START: SCRIPT,
    PRINT: SCRIPT,
}


@dataclass(frozen=True)
class StaticFile:
    """A file for browsers."""

    name: str
    media_type: str
    body: bytes

    @property
    def is_style(self) -> bool:
        """True for a style sheet, false for a script."""
        return self.media_type == STYLE

    @property
    def version(self) -> str:
        """A hash for the address, so that browsers may cache the file for ever."""
        return sha256(self.body).hexdigest()[:16]

    @property
    def address(self) -> str:
        """Its path and version."""
        return f"/static/{self.name}?v={self.version}"

    @property
    def integrity(self) -> str:
        """The hash that a browser checks before it runs the file."""
        return f"sha256-{b64encode(sha256(self.body).digest()).decode()}"


@cache
def static_file(name: str) -> StaticFile:
    """Return a static file, or raise NotFoundError."""
    if name not in MEDIA_TYPES:
        raise NotFoundError("There is no such file.")
    body = (files(dashboard.__name__) / "static" / name).read_bytes()
    return StaticFile(name, MEDIA_TYPES[name], body)


BREAK_AFTER = re.compile("([:./])")
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
UNITS = ((DAY_S, "d"), (HOUR_S, "h"), (MINUTE_S, "min"), (1, "s"))


def page(
    template: str,
    status: int = 200,
    *,
    reload_s: int | None = None,
    scripts: Sequence[str] = (),
    **values: object,
) -> HTMLResponse:
    """Return a page, which the browser reloads after `reload_s` seconds.

    Only a page that names `scripts` may run any, and only our static files.
    """
    static = [static_file(name) for name in scripts]
    text = _environment().get_template(template).render(reload_s=reload_s, scripts=static, **values)
    return HTMLResponse(text, status, headers=SCRIPTED_HEADERS if scripts else PAGE_HEADERS)


def page_file(template: str, name: str, **values: Any) -> Response:
    """Return a page with its style inside as a file for download."""
    style = Markup(style_sheet())  # noqa: S704 - our own style sheet
    shown = page(template, style=style, **values)
    shown.headers["Content-Disposition"] = f"attachment; filename={name}.html"
    return shown


def csv_file(table: Table, name: str) -> Response:
    """Return a table as a CSV file for download."""
    headers = {**PAGE_HEADERS, "Content-Disposition": f"attachment; filename={name}.csv"}
    return Response(csv_of(table), media_type="text/csv; charset=utf-8", headers=headers)


def style_sheet() -> str:
    """Return the style sheet of all pages."""
    own = (files(dashboard.__name__) / "templates" / "style.css").read_text(encoding="utf-8")
    return own + drawing_style()


def choice_words(option: str) -> str:
    """Return an option of a filter in words: `country=Peru` is `country: Peru`."""
    return option.replace("=", ": ", 1).replace("_", " ")


def feature_words(option: str) -> str:
    """Return a feature of a filter in words: `vader.sentiment` is `sentiment (vader)`."""
    extractor, _, feature = option.partition(".")
    return number_name(extractor, feature)


def claim_words(claim: Claim) -> str:
    """Return the population of a monitor's conclusions."""
    return "these prompts alone" if claim is Claim.BANK else "prompts like these"


def ago(at: datetime | None, now: datetime) -> str:
    """Return the time since a moment."""
    return UNDEFINED if at is None else f"{_duration(now - at)} ago"


def due(at: datetime | None, now: datetime) -> str:
    """Return the time until a moment, or since it is overdue."""
    if at is None:
        return UNDEFINED
    if abs(at - now) < timedelta(seconds=1):
        return "due now"
    return f"in {_duration(at - now)}" if at > now else f"overdue by {_duration(now - at)}"


def breakable(name: str) -> Markup:
    """Return a long name with line breaks allowed between its parts."""
    return Markup(BREAK_AFTER.sub(r"\1<wbr>", str(escape(shown(name)))))  # noqa: S704 - escaped right here


def reply(text: str) -> Markup:
    """Return a text for an element of its own whose `dir` is `auto`."""
    return Markup(escape(visible(text)))  # noqa: S704 - escaped right here


def with_code(sentence: str) -> Markup:
    """Return a sentence with its commands, which are between backticks, as code."""
    parts = shown(sentence).split("`")
    if len(parts) % 2 == 0:
        return escape(shown(sentence))
    code = Markup("<code>{}</code>")
    marked = (code.format(part) if n % 2 else escape(part) for n, part in enumerate(parts))
    return Markup("").join(marked)


def drawn(picture: Element | None) -> Markup:
    """Return a picture as markup; its tree escapes every text."""
    return Markup("" if picture is None else markup(picture))  # noqa: S704 - escaped by the tree


def as_sent(text: object) -> Markup:
    """Return the value of a form field unchanged, as the browser sends it back."""
    return Markup(escape(text))  # noqa: S704 - escaped right here


def as_shown(value: object) -> object:
    """Return the value of a template expression in its safe form."""
    return shown(value) if type(value) is str else value


def moment(at: datetime) -> str:
    """Return a moment to the minute."""
    return f"{at:%Y-%m-%d %H:%M} {at.tzname()}"


def capitalize_first(sentence: str) -> str:
    """Return a sentence with a capital first letter, otherwise unchanged."""
    return sentence[:1].upper() + sentence[1:]


def by_rank(groups: Sequence[GroupSummary]) -> list[GroupSummary]:
    """Return groups by rank, then those without a rank in their order."""
    ranks = {group.group: group.rank.value for group in groups if group.rank and group.rank.value}
    return sorted(groups, key=lambda group: ranks.get(group.group, len(groups) + 1))


def _duration(time: timedelta) -> str:
    """Return a duration in its largest fitting unit."""
    passed_s = max(0.0, time.total_seconds())
    size, unit = next((u for u in UNITS if passed_s >= u[0]), UNITS[-1])
    return f"{passed_s // size:.0f} {unit}"


FILTERS: tuple[Callable[..., object], ...] = (
    number,
    p_value,
    p_equals,
    words,
    choice_words,
    feature_words,
    claim_words,
    ago,
    due,
    breakable,
    moment,
    capitalize_first,
    reply,
    as_sent,
    with_code,
    drawn,
    forest_figure,
    gap_text,
    undetected_words,
    marked_words,
    by_rank,
)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(dashboard.__name__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=as_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        glossary=GLOSSARY, glossary_ids={word: n for n, word in enumerate(GLOSSARY, start=1)}
    )
    environment.filters.update({function.__name__: function for function in FILTERS})
    return environment
