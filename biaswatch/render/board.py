"""The page for a board as Markdown."""

from biaswatch.render.markdown import escape_md
from biaswatch.render.report_markdown import FORESTS_PLACEHOLDER
from biaswatch.shared.presentation.board import BoardPage


def board_markdown(page: BoardPage) -> str:
    """Return the page as Markdown, with a placeholder for its pictures."""
    lines = [f"# {escape_md(page.title)}", "", f"**{escape_md(page.lead)}**", ""]
    lines += [escape_md(page.context), ""] if page.context else []
    lines += [FORESTS_PLACEHOLDER, "", *(f"- {escape_md(text)}" for text in page.findings), ""]
    for title, text in page.sections:
        lines += [f"## {title}", "", escape_md(text), ""]
    return "\n".join([*lines, escape_md(page.source)]) + "\n"
