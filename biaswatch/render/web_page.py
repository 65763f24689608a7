"""A report as one web page: it needs nothing from elsewhere, and runs nothing."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }
table { display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: #8882; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886; }
blockquote { border-left: 3px solid #8886; margin-left: 0; padding-left: 1rem; }
figure { margin: 2rem 0; background: white; }
img { max-width: 100%; height: auto; }
td { overflow-wrap: break-word; max-width: 30rem; }
"""
NOTHING_FROM_ELSEWHERE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def as_page(title: str, markdown: str, pictures: Sequence[Path] = ()) -> str:
    """Return the page; markup in the text stays text, and pictures (SVG) stand inside."""
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    figures = "".join(map(_figure, pictures))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{NOTHING_FROM_ELSEWHERE}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{body}{figures}</body>\n</html>\n"
    )


def _figure(picture: Path) -> str:
    """Return a picture inside the page, as an image: what an SVG says is shown, never run."""
    data = b64encode(picture.read_bytes()).decode()
    name = escape(picture.stem.replace("-", " "))
    source = f"data:image/svg+xml;base64,{data}"
    return f'<figure><img alt="{name}" src="{source}"></figure>\n'
