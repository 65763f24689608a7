"""Prose of PDF files, read by a process of its own with limits on time and memory."""

import contextlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from statistics import quantiles
from typing import Any

from biaswatch.building.build_data import Passage
from biaswatch.building.cleaning import LIGATURES, NOTE_MARK, unhyphenated
from biaswatch.building.sentences import BULLET, ENDED
from biaswatch.building.words import CAPTION, STOP
from biaswatch.shared.errors import UsageError

MAX_PAGES = 500
MAX_CHARS = 5_000_000
TIMEOUT_S = 120
MAX_MEMORY_BYTES = 2 * 1024**3
REPEATED_PAGES = 3
"""A line at the top or bottom of this many pages, or of all, is a header or footer."""
SHORT = 0.7
"""A line shorter than this share of the usual one was not wrapped."""
WRAPPED = 0.9
"""A second line at the top or bottom that is at least this long is prose."""
REFERENCE = re.compile(r"[^\W\d_]+, (?:[^\W\d_]\.[ ,&]*){1,4}.{0,150}?\((?:19|20)\d\d[a-z]?\)")
"""An entry of a bibliography: `Smith, J. (1990)`."""
MARKER = re.compile(r"\s*(?:[\u2022\u25e6\u25aa\u2023*-]|\(?\d{1,3}[.)])\s*")
SAME_LINE = 2
"""Largest distance of the heights of one line, in points."""
LEAST_ACROSS = 0.3
"""Least share of lines that begin in the second column right after one of the first."""
LEAST_LINES = 4
"""Fewer lines do not show how long a usual line is."""


def passages_of_pdf(content: bytes, name: str) -> list[Passage]:
    """Return the passages of a PDF file.

    Raise UsageError where it is damaged, encrypted, too large, or holds no text (a scan).
    """
    command = [sys.executable, "-m", __name__]
    try:
        result = subprocess.run(command, input=content, capture_output=True, timeout=TIMEOUT_S)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise UsageError(f"The PDF {name} takes longer than {TIMEOUT_S} s to read.") from None
    if result.returncode:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason"]
        reason = lines[-1].removeprefix("ValueError: ").rstrip(".")[:200]
        raise UsageError(f"The PDF {name} cannot be read: {reason}.")
    pages = json.loads(result.stdout)
    if not any(page.strip() for page in pages):
        raise UsageError(f"The PDF {name} holds no text; recognise the text of a scan first.")
    return list(passages_of_pages(pages))


def passages_of_pages(pages: Sequence[str]) -> Iterator[Passage]:
    """Return the passages of pages of text, without headers, footers, tables and headings."""
    lines_by_page = [
        [NOTE_MARK.sub("", line.strip()) for line in page.split("\n") if line.strip()]
        for page in pages
    ]
    usual = _usual_length([line for lines in lines_by_page for line in lines])
    margins = [_margin(lines, WRAPPED * usual) for lines in lines_by_page]
    counts = Counter(line for margin in margins for line in margin)
    least = max(2, min(REPEATED_PAGES, len(pages)))
    lines: list[str] = []
    for page, margin in zip(lines_by_page, margins, strict=True):
        for line in page:
            text = _without_digits(line)
            if line.isdigit() or (text in margin and counts[text] >= least):
                yield Passage(line, "header or footer")
            else:
                lines.append(line)
    yield from _blocks(lines)


def _margin(lines: Sequence[str], short: float) -> set[str]:
    """Return the first and the last line, and the lines next to them if they are short."""
    inner = [line for line in (*lines[1:2], *lines[-2:-1]) if len(line) < short]
    return {_without_digits(line) for line in (*lines[:1], *lines[-1:], *inner)}


def _usual_length(lines: Sequence[str]) -> float:
    lengths = [len(line) for line in lines]
    return quantiles(lengths, n=4)[2] if len(lines) >= LEAST_LINES else max(lengths, default=0)


def _without_digits(line: str) -> str:
    return re.sub(r"\d+", "#", line)


def _blocks(lines: Sequence[str]) -> Iterator[Passage]:
    """Join wrapped lines; a short line without a final mark is a heading or a row of a table."""
    usual = _usual_length(lines)
    block: list[str] = []
    for line in lines:
        is_item = bool(BULLET.match(line) or CAPTION.match(line))
        loose = len(line) < SHORT * usual and not ENDED.search(line)
        goes_on = bool(block) and _goes_on(block, line)
        begins = bool(block) and len(block[-1]) < SHORT * usual
        if block and not goes_on and (begins or is_item or loose or _is_row(line)):
            yield _joined(block)
            block = []
        if goes_on or not (loose or _is_row(line)):
            block.append(line)
        elif _is_row(line):
            yield Passage(line, "table")
        elif is_item:
            block = [line]
        else:
            yield Passage(line, "heading or row of a table")
    if block:
        yield _joined(block)


def _goes_on(block: Sequence[str], line: str) -> bool:
    """Tell whether an entry of a list or a caption, which may be short, goes on in this line."""
    if not (BULLET.match(block[0]) or CAPTION.match(block[0])) or ENDED.search(block[-1]):
        return False
    last = block[-1].split()[-1]
    return line[:1].islower() or last.endswith(("-", "\u2010", "\u00ad")) or last.lower() in STOP


def _is_row(line: str) -> bool:
    """Tell whether a line consists mostly of numbers, or of columns."""
    words = line.split()
    numbers = sum(any(c.isdigit() for c in word) for word in words)
    return len(re.findall(r"\S\s{3,}(?=\S)", line)) > 1 or numbers > max(1, 0.4 * len(words))


def _joined(lines: Sequence[str]) -> Passage:
    text = " ".join(unhyphenated("\n".join(lines)).translate(LIGATURES).split())
    kinds = {"list entry": BULLET, "caption": CAPTION, "reference": REFERENCE}
    reason = next((name for name, kind in kinds.items() if kind.match(text)), None)
    return Passage(text, reason)


def _texts(content: bytes) -> list[str]:
    """Return the text of every page; raise ValueError where a limit is passed."""
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise ValueError("it is encrypted")
    if len(reader.pages) > MAX_PAGES:
        raise ValueError(f"it has more than {MAX_PAGES} pages")
    texts = [_page_text(page) for page in reader.pages]
    if sum(map(len, texts)) > MAX_CHARS:
        raise ValueError(f"it has more than {MAX_CHARS:,} characters")
    return texts


def _page_text(page: Any) -> str:
    """Return the text of a page: markers of lists beside their entries, column after column."""
    runs: list[_Run] = []

    def add(text: str, matrix: Any, of_text: Any, _font: Any, _size: Any) -> None:
        x, y = of_text[4] * matrix[0] + matrix[4], of_text[5] * matrix[3] + matrix[5]
        runs.append(_Run(round(x), round(y), text))

    page.extract_text(visitor_text=add)
    return "".join(run.text for run in _by_column(list(_with_markers(runs))))


@dataclass
class _Run:
    """Text that is drawn at a place."""

    x: int
    y: int
    text: str


def _with_markers(runs: Sequence[_Run]) -> Iterator[_Run]:
    """Yield the runs; a bullet or a number that is drawn alone is put before its entry."""
    for run in runs:
        entries = [
            other
            for other in (runs if MARKER.fullmatch(run.text) else ())
            if abs(other.y - run.y) <= SAME_LINE and other.x > run.x and other.text.strip()
        ]
        if entries:
            entry = min(entries, key=lambda other: other.x)
            entry.text = f"\n{run.text.strip()} {entry.text.lstrip()}"
            run.text = ""
    yield from runs


def _by_column(runs: list[_Run]) -> list[_Run]:
    """Return the runs of the second column after those of the first, if they alternate."""
    written = [run for run in runs if run.text.strip()]
    begins = Counter(
        right.x for left, right in pairwise(written) if left.y == right.y and left.x < right.x
    )
    [(start, number)] = begins.most_common(1) or [(0, 0)]
    if number < max(LEAST_LINES, LEAST_ACROSS * len(written)):
        return runs
    return sorted(runs, key=lambda run: run.x >= start)


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT_S, TIMEOUT_S))


if __name__ == "__main__":
    _limit_memory()
    json.dump(_texts(sys.stdin.buffer.read()), sys.stdout)
