"""Web pages as PDF: by WeasyPrint where Pango is installed, or else by Chromium."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from biaswatch.shared.errors import UsageError
from biaswatch.written_files import atomic_file

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_TIMEOUT_S = 120
NO_PRINTER = (
    "A PDF needs WeasyPrint with Pango (install biaswatch with the extra `pdf`) or Chromium, and"
    " neither is here. `-o report.html` writes the same page, which every browser prints."
)
Printer = Callable[[str, Path], None]


def pdf_printer() -> Printer:
    """Return the printer of pages to files; call it before the work.

    Raises
    ------
    UsageError
        Neither WeasyPrint nor Chromium can print here.
    """
    try:
        import weasyprint
        from weasyprint.urls import URLFetcher
    except (ImportError, OSError):  # OSError: Pango is missing
        return _browser_printer()

    fetcher = URLFetcher(allowed_protocols=["data"])  # a report loads nothing

    def print_page(page: str, path: Path) -> None:
        weasyprint.HTML(string=page, url_fetcher=fetcher).write_pdf(path)

    return print_page


def _browser_printer() -> Printer:
    browser = next(filter(None, map(which, BROWSERS)), None)
    if browser is None:
        raise UsageError(NO_PRINTER)

    def print_page(page: str, path: Path) -> None:
        with TemporaryDirectory() as folder:
            source = Path(folder) / "page.html"
            source.write_text(page, encoding="utf-8")
            command = [
                *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"),
                *(f"--user-data-dir={folder}/profile", f"--print-to-pdf={path.resolve()}"),
                source.as_uri(),
            ]
            result = subprocess.run(  # noqa: S603 - our own page
                command, capture_output=True, timeout=BROWSER_TIMEOUT_S, check=False
            )
        if result.returncode or not path.stat().st_size:
            raise UsageError(f"{browser} did not print the page; `-o report.html` writes it.")

    return print_page


def write_pdf(printer: Printer, page: str, path: Path) -> None:
    """Print a page to a file, which is whole or absent."""
    with atomic_file(path) as part:
        printer(page, part)
