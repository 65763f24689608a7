"""Files of a build: its plan, its local texts, and the finished suite."""

import codecs
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

import yaml
from pydantic import ValidationError

from biaswatch.building.build import BuiltSuite
from biaswatch.building.build_data import Document, Passage, document_of
from biaswatch.building.html_text import passages_of_html
from biaswatch.building.markdown_text import passages_of_markdown, passages_of_text
from biaswatch.building.pdf_text import passages_of_pdf
from biaswatch.building.plan import FilesSource, Plan
from biaswatch.building.prompts import (
    PROBES_FILE,
    header_text,
    left_out_text,
    report_json,
    rows_text,
)
from biaswatch.building.quality_report import report_markdown
from biaswatch.shared import files
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import UsageError

MAX_SOURCE_BYTES = 20 * 1024 * 1024
MAX_FILES = 10_000
"""Files read in one folder."""
CHARSET = re.compile(rb"charset=[\"']?([\w-]{2,40})")
CHARSET_WITHIN_BYTES = 4096
AS_BROWSERS = dict.fromkeys(["iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii"], "cp1252")
"""Encodings that browsers read as Windows-1252, whose quotation marks such pages contain."""
TEXT_READERS: Mapping[str, Callable[[str], Iterable[Passage]]] = {
    "": passages_of_text,
    ".txt": passages_of_text,
    ".md": passages_of_markdown,
    ".markdown": passages_of_markdown,
    ".html": passages_of_html,
    ".htm": passages_of_html,
}
PDF = ".pdf"
KINDS = ".txt, .md, .html or .pdf"


def read_files(source: FilesSource, home: Path) -> list[Document]:
    """Return the texts of a source, in the order of their names.

    Raise UsageError where the path leaves the plan's folder, holds no text, or cannot be read.
    """
    root, path = home.resolve(), path_inside(home, source.path)
    files = _files_in(path) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"The source {source.path!r} holds no {KINDS} file.")
    if len(files) > MAX_FILES:
        raise UsageError(f"The source {source.path!r} holds more than {MAX_FILES:,} files.")
    return [_document(file, root, source) for file in files]


def _files_in(folder: Path) -> list[Path]:
    kinds = {*TEXT_READERS, PDF} - {""}
    texts = (file for file in folder.rglob("*") if file.suffix.lower() in kinds)
    return sorted(islice((file for file in texts if file.is_file()), MAX_FILES + 1))


def path_inside(home: Path, name: str) -> Path:
    """Return the path of a file the plan names; raise UsageError where it leaves the plan's folder.

    A plan may come from a third party and must not read other files of this machine.
    """
    path = (home.resolve() / name).resolve()
    if not path.is_relative_to(home.resolve()):
        raise UsageError(f"The file {name!r} lies outside the plan's folder {home}.")
    return path


def _document(file: Path, root: Path, source: FilesSource) -> Document:
    if not file.resolve().is_relative_to(root):
        raise UsageError(f"The source {file} points outside the plan's folder.")
    try:
        if file.stat().st_size > MAX_SOURCE_BYTES:
            raise UsageError(f"The source {file} is larger than {MAX_SOURCE_BYTES // 1024**2} MiB.")
        passages = _passages(file, file.read_bytes())
    except UnicodeDecodeError as error:
        why = files.NOT_UTF8 if error.encoding == "utf-8" else f"it is not {error.encoding}"
        raise UsageError(f"The source {file} cannot be read: {why}.") from None
    except (OSError, LookupError) as error:
        raise UsageError(f"The source {file} cannot be read: {error}.") from None
    return document_of(file.relative_to(root).as_posix(), passages, source.licence)


def _passages(file: Path, content: bytes) -> Iterable[Passage]:
    kind = file.suffix.lower()
    if kind == PDF:
        return passages_of_pdf(content, file.name)
    read = TEXT_READERS.get(kind)
    if read is None:
        raise UsageError(f"The source {file} is not a {KINDS} file.")
    return read(content.decode(_encoding(content, is_html=read is passages_of_html)))


def _encoding(content: bytes, *, is_html: bool) -> str:
    """Return the encoding that a mark or an HTML page names, or UTF-8."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    declared = CHARSET.search(content[:CHARSET_WITHIN_BYTES]) if is_html else None
    name = declared[1].decode("ascii").lower() if declared else "utf-8"
    return {"utf-8": "utf-8-sig", **AS_BROWSERS}.get(name, name)


def load_plan(file: Path) -> Plan:
    """Read a plan; raise UsageError, naming file, line and field, where something is wrong."""
    text = files.read_text(file, "plan")
    expected = "a plan is a mapping with name, domain, concepts and prompts"
    fields = files.yaml_mapping(text, file, expected)
    try:
        return Plan.model_validate(fields)
    except ValidationError as error:
        raise UsageError(_sentence(file, yaml.compose(text, yaml.SafeLoader), error)) from None


def _sentence(file: Path, node: yaml.Node | None, error: ValidationError) -> str:
    mistake = first_mistake(error)
    loc = [part for part in mistake.loc if part not in {"files", "url", "wikipedia", "written"}]
    line = f", line {_line(node, loc)}" if node else ""
    field = f", {mistake.field}" if mistake.field else ""
    problem = mistake.sentence
    if mistake.kind.startswith("union_tag"):
        problem = "name the kind of source: files, url, wikipedia or written"
    return f"{file}{line}{field}: {problem}."


def _line(node: yaml.Node, loc: Sequence[int | str]) -> int:
    """Return the line of the innermost part present in the file."""
    line = node.start_mark.line + 1
    for part in loc:
        inner = _inner(node, part)
        if inner is None:
            break
        key, node = inner
        line = key.start_mark.line + 1
    return line


def _inner(node: yaml.Node, part: int | str) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None


def write_suite(built: BuiltSuite, folder: Path) -> list[Path]:
    """Write the suite's files and return their paths; keep other files of the folder.

    Raise UsageError where the folder cannot be written.
    """
    texts = {
        PROBES_FILE: rows_text(built.rows),
        "suite.yaml": header_text(built.header),
        "left_out.jsonl": left_out_text(built.build_log),
        "report.json": json.dumps(report_json(built.quality, built.build_log), indent=2) + "\n",
        "report.md": report_markdown(str(built.header["name"]), built.quality, built.build_log),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Written to a temporary folder and moved, header last, so that readers and concurrent
        # builds never see half a suite.
        with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as staging:
            for name, text in texts.items():
                (Path(staging) / name).write_text(text, encoding="utf-8", newline="\n")
            for name in sorted(texts, key=lambda name: name == "suite.yaml"):
                shutil.move(Path(staging) / name, folder / name)
    except OSError as error:
        raise UsageError(f"The suite cannot be written to {folder}: {error}.") from None
    return [folder / name for name in texts]
