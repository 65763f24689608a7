"""The scripts and styles that pages load: this list, kept with us, and nothing else."""

from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from biaswatch.services.gateway import dashboard
from biaswatch.shared.errors import NotFoundError

UPLOT, UPLOT_STYLE = "uplot-1.6.32.min.js", "uplot-1.6.32.min.css"
MONITOR_CHARTS, GROUP_ROWS, LIVE = "monitor-charts.js", "group-rows.js", "live.js"
SCRIPT, STYLE = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
MEDIA_TYPES = {
    UPLOT: SCRIPT,
    UPLOT_STYLE: STYLE,
    "uplot-1.6.32.LICENSE.txt": "text/plain; charset=utf-8",
    MONITOR_CHARTS: SCRIPT,
    GROUP_ROWS: SCRIPT,
    LIVE: SCRIPT,
}


@dataclass(frozen=True)
class StaticFile:
    """One file as it is sent to browsers."""

    name: str
    media_type: str
    body: bytes

    @property
    def is_style(self) -> bool:
        """Whether it is a style sheet; everything else that a page names is a script."""
        return self.media_type == STYLE

    @property
    def version(self) -> str:
        """What the address changes with, so that a browser may keep the file for ever."""
        return sha256(self.body).hexdigest()[:16]

    @property
    def address(self) -> str:
        """Where it is."""
        return f"/static/{self.name}?v={self.version}"

    @property
    def integrity(self) -> str:
        """What a browser compares with what it was sent, before it runs any of it."""
        return f"sha256-{b64encode(sha256(self.body).digest()).decode()}"


@cache
def static_file(name: str) -> StaticFile:
    """Return one of the files.

    Raises
    ------
    NotFoundError
        It is none of them.
    """
    if name not in MEDIA_TYPES:
        raise NotFoundError("There is no such file.")
    body = (files(dashboard.__name__) / "static" / name).read_bytes()
    return StaticFile(name, MEDIA_TYPES[name], body)
