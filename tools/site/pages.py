"""The pages of `docs` in the sections of the site, with links that resolve there."""

import re
from pathlib import Path, PurePosixPath

SECTIONS: dict[str, tuple[str, ...]] = {
    "Tutorials": ("tutorial", "tutorial-monitor", "hiring-audit"),
    "How to: measure": (
        "diagnosing", "error-rates", "targets", "own-suites", "published-benchmarks", "bbq",
        "building-benchmarks", "conversations", "agents", "shortlists", "twin-answers",
        "searching", "labels", "adding-an-extractor", "interpretation",
        "simulator",
    ),
    "How to: monitor": (
        "monitors", "traffic", "otlp", "importing", "channels", "release-gate", "other-tools",
        "dashboard",
    ),
    "How to: operate": (
        "one-machine", "install", "kubernetes", "access", "operations", "archive", "scale",
    ),
    "Reference": (
        "commands", "reference/commands", "python", "reference/suites", "reference/files",
        "reference/formats", "reference/columns",
        "reference/http",
        "reference/records", "reference/settings", "reference/metrics", "reference/limits",
        "reference/simulator",
    ),
    "Explanation": (
        "verdicts", "glossary", "a-real-model", "architecture", "decisions/README",
    ),
    "Specification": (
        "statistics", "statistics-monitors", "calibration", "calibration-table",
        "calibration-questions", "calibration-monitors", "measurements", "sources",
    ),
}  # fmt: skip
"""Every page but single decisions, in the order of the contents."""
ABOUT = "biaswatch measures social bias in large language models and monitors it in production."
ORPHAN = "---\norphan: true\n---\n\n"
_LINK = re.compile(r"(!?)\[(?P<text>[^\]]*)\]\((?P<where>[^)\s]+)\)")


def written_pages(docs: Path) -> dict[str, str]:
    """Return the text of each page of `docs`, by its path in the site."""
    texts = {
        str(path.relative_to(docs)): path.read_text(encoding="utf-8")
        for path in sorted(docs.rglob("*.md"))
    }
    listed = {f"{name}.md" for names in SECTIONS.values() for name in names}
    return {
        page: ("" if page in listed else ORPHAN) + with_links_inside(page, text, docs)
        for page, text in texts.items()
    }


def with_links_inside(page: str, text: str, docs: Path) -> str:
    """Return the text with links out of the site replaced by the names of their targets.

    A reader of the site may not have the repository.
    """

    def replaced(link: re.Match[str]) -> str:
        where = link["where"]
        if re.match(r"[a-z]+:|#", where) or _inside(page, where, docs):
            return link[0]
        return f"{link['text']} (`{_in_repository(page, where)}`)"

    return _LINK.sub(replaced, text)


def contents(title: str, introduction: str) -> str:
    """Return the first page, with the contents of each section."""
    trees = [
        "\n".join(("```{toctree}", f":caption: {caption}", ":maxdepth: 1", "", *names, "```"))
        for caption, names in SECTIONS.items()
    ]
    return "\n\n".join((f"# {title}", introduction, *trees)) + "\n"


def llms_index(docs: Path) -> str:
    """Return `llms.txt` (llmstxt.org): each page with its title and first sentence, for agents."""
    parts = ["# biaswatch", "", f"> {ABOUT}"]
    for caption, names in SECTIONS.items():
        written = [name for name in names if (docs / f"{name}.md").exists()]
        entries = [_entry(name, (docs / f"{name}.md").read_text("utf-8")) for name in written]
        parts += ["", f"## {caption}", "", *entries]
    return "\n".join(parts) + "\n"


def _entry(name: str, text: str) -> str:
    title, *paragraphs = text.split("\n\n")
    prose = [part for part in paragraphs if not part.startswith(("#", "```", "<", "|"))]
    paragraph = " ".join(_LINK.sub(r"\g<text>", prose[0]).split())
    sentence = re.split(r"(?<=[.:]) (?=[A-Z])", paragraph)[0]
    return f"- [{title.lstrip('# ')}](docs/{name}.md): {sentence}"


def _inside(page: str, where: str, docs: Path) -> bool:
    path = (docs / page).parent / where.split("#")[0]
    return path.resolve().is_relative_to(docs.resolve()) and path.exists()


def _in_repository(page: str, where: str) -> str:
    parts: list[str] = []
    for part in PurePosixPath("docs", page).parent.joinpath(where.split("#")[0]).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)
