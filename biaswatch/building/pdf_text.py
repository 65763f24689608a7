"""Prose of PDF files, read by a process of its own with limits on time and memory."""

import contextlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from statistics import quantiles

from biaswatch.building.build_data import Passage
from biaswatch.building.sentences import BULLET, ENDED
from biaswatch.building.words import CAPTION
from biaswatch.shared.errors import UsageError

MAX_PAGES = 500
MAX_CHARS = 5_000_000
TIMEOUT_S = 120
MAX_MEMORY_BYTES = 2 * 1024**3
REPEATED_PAGES = 3
"""A line at the top or bottom of this many pages is a header or footer."""
SHORT = 0.7
"""A line shorter than this share of the usual one was not wrapped."""
LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl"}
)
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
    lines_by_page = [[line.strip() for line in page.split("\n") if line.strip()] for page in pages]
    margins = Counter(
        _without_digits(line) for lines in lines_by_page for line in {*lines[:1], *lines[-1:]}
    )
    lines: list[str] = []
    for page in lines_by_page:
        for number, line in enumerate(page):
            margin = number in {0, len(page) - 1}
            if line.isdigit() or (margin and margins[_without_digits(line)] >= REPEATED_PAGES):
                yield Passage(line, "header or footer")
            else:
                lines.append(line)
    yield from _blocks(lines)


def _without_digits(line: str) -> str:
    return re.sub(r"\d+", "#", line)


def _blocks(lines: Sequence[str]) -> Iterator[Passage]:
    """Join wrapped lines; a short line without a final mark is a heading or a row of a table."""
    lengths = [len(line) for line in lines]
    usual = quantiles(lengths, n=4)[2] if len(lines) >= LEAST_LINES else max(lengths, default=0)
    block: list[str] = []
    for line in lines:
        begins = not block or (ENDED.search(block[-1]) and len(block[-1]) < SHORT * usual)
        apart = bool(BULLET.match(line) or CAPTION.match(line))
        loose = len(line) < SHORT * usual and not ENDED.search(line)
        if block and (begins or apart or loose or _is_row(line)):
            yield _joined(block)
            block = []
        if _is_row(line):
            yield Passage(line, "table")
        elif loose:
            yield _joined([line]) if apart else Passage(line, "heading or row of a table")
        else:
            block.append(line)
    if block:
        yield _joined(block)


def _is_row(line: str) -> bool:
    """Tell whether a line consists mostly of numbers, or of columns."""
    words = line.split()
    numbers = sum(any(c.isdigit() for c in word) for word in words)
    return len(re.findall(r"\S\s{3,}(?=\S)", line)) > 1 or numbers > max(1, 0.4 * len(words))


def _joined(lines: Sequence[str]) -> Passage:
    text = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", "\n".join(lines))
    text = " ".join(text.translate(LIGATURES).split())
    reason = "list entry" if BULLET.match(text) else "caption" if CAPTION.match(text) else None
    return Passage(text, reason)


def _texts(content: bytes) -> list[str]:
    """Return the text of every page; raise ValueError where a limit is passed."""
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise ValueError("it is encrypted")
    if len(reader.pages) > MAX_PAGES:
        raise ValueError(f"it has more than {MAX_PAGES} pages")
    texts = [page.extract_text() for page in reader.pages]
    if sum(map(len, texts)) > MAX_CHARS:
        raise ValueError(f"it has more than {MAX_CHARS:,} characters")
    return texts


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT_S, TIMEOUT_S))


if __name__ == "__main__":
    _limit_memory()
    json.dump(_texts(sys.stdin.buffer.read()), sys.stdout)
