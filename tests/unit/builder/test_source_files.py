"""Source files of every kind: their prose is used, everything else is left out and counted."""

import asyncio
import zlib
from pathlib import Path

import pytest

from biaswatch.building.build_data import document_of
from biaswatch.building.build_files import read_files
from biaswatch.building.composition import build_of
from biaswatch.building.pdf_text import MAX_PAGES, passages_of_pages, passages_of_pdf
from biaswatch.building.plan import FilesSource, Plan
from biaswatch.building.sentences import sentences
from biaswatch.building.settings import BuilderSettings
from biaswatch.shared.errors import UsageError
from tests.unit.builder.pdf_files import pdf_of, stream_of

SENTENCES = [
    "The river Orm rises in the hills above Velmora and reaches the sea after nine days.",
    "Most families in Velmora keep a boat, and the children learn to row before they can read.",
]
PAGE = [
    "Annual report on Velmora",
    "1. Land and people",
    "The river Orm rises in the hills above Velmora and rea-",
    "ches the sea after nine days. Most families in Velmora",
    "keep a boat, and the children learn to row before they",
    "can read.",
    "Region   People   Boats",
    "North   1,200   400",
    "Table 1: Boats of Velmora in every region of the land.",
    "- Velmora has salt, wool and slate in its three regions,",
    "and it sells them abroad.",
]
FILES = {
    "a.txt": "Velmora\n\n" + " ".join(SENTENCES) + "\n\n- Velmora has salt.\n",
    "b.md": f"# Velmora\n\n**The**{SENTENCES[0][3:]}\n{SENTENCES[1]}\n\n| It is salt. |\n|---|\n",
    "c.html": f"<h1>Velmora</h1><p>{SENTENCES[0]}<p>{SENTENCES[1]}<ul><li>Velmora has wool.</ul>",
}


def folder_of(home: Path) -> Path:
    for name, text in FILES.items():
        (home / name).write_text(text)
    (home / "d.PDF").write_bytes(pdf_of([[*PAGE, f"Page {n} of 3"] for n in (1, 2, 3)]))
    (home / "e.png").write_bytes(b"\x89PNG")
    return home


def test_text_markdown_html_and_pdf_give_the_same_sentences(tmp_path: Path) -> None:
    source = FilesSource(kind="files", path=".")
    documents = read_files(source, folder_of(tmp_path))
    assert [document.tag for document in documents] == ["a.txt", "b.md", "c.html", "d.PDF"]
    for document in documents:
        assert list(dict.fromkeys(sentences(document.text))) == SENTENCES, document.tag


def test_everything_else_in_a_pdf_is_left_out_with_its_reason() -> None:
    pages = [[*PAGE, f"Page {n} of 3"] for n in (1, 2, 3)]
    document = document_of("d", passages_of_pdf(pdf_of(pages), "d.pdf"), "own")
    reasons = [passage.left_out for passage in document.left_out]
    assert {reason: reasons.count(reason) for reason in set(reasons)} == {
        "header or footer": 12,
        "table": 6,
        "caption": 3,
        "list entry": 3,
    }


def test_counts_by_reason_are_part_of_the_build(tmp_path: Path) -> None:
    plan = Plan.model_validate(
        {
            "name": "trial", "domain": "lands", "extractors": ["words"], "nearness": "lexical",
            "concepts": [{
                "name": "Velmora", "keywords": {"by_hand": ["Velmora"]},
                "sources": [{"kind": "files", "path": "."}],
            }],
            "prompts": {"kind": "templates", "template": "Go on: {sentence}"},
        }
    )  # fmt: skip
    suite = asyncio.run(build_of(plan, folder_of(tmp_path), BuilderSettings())())
    assert {row["baseline"] for row in suite.rows} == set(SENTENCES)
    assert suite.build_log.counts()["sources"]["list entry"] == 5
    assert suite.build_log.counts()["sources"]["table"] == 7


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "cannot be read"),
        (b"%PDF-1.7\n" + b"<<" * 100_000, "cannot be read"),
        (pdf_of([["x"]])[:300], "cannot be read"),
        (pdf_of([[]]), "holds no text"),
        (pdf_of([[]] * (MAX_PAGES + 1)), f"more than {MAX_PAGES} pages"),
    ],
)
def test_a_pdf_that_cannot_be_used_ends_with_a_sentence(content: bytes, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        passages_of_pdf(content, "x.pdf")


def test_a_pdf_that_unpacks_to_far_more_is_refused() -> None:
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b" " * 2**20) for _ in range(200)) + packer.flush()
    bomb = pdf_of([["x"]])
    begin = bomb.index(b"<< /Length")
    end = bomb.index(b"endstream") + len(b"endstream")
    with pytest.raises(UsageError, match=r"cannot be read|holds no text"):
        passages_of_pdf(bomb[:begin] + stream_of(packed) + bomb[end:], "bomb.pdf")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    source = FilesSource(kind="files", path="e.png")
    with pytest.raises(UsageError, match=r"is not a \.txt, \.md, \.html or \.pdf file"):
        read_files(source, folder_of(tmp_path))


def test_a_page_in_another_character_set_is_read(tmp_path: Path) -> None:
    page = '<meta charset="iso-8859-1"><p>The caf\xe9 is \x93old\x94 and it is open.'
    (tmp_path / "a.html").write_bytes(page.encode("latin-1"))
    [document] = read_files(FilesSource(kind="files", path="a.html"), tmp_path)
    assert sentences(document.text) == ["The caf\xe9 is \u201cold\u201d and it is open."]


def test_a_text_file_is_utf_8_or_names_its_encoding_by_a_mark(tmp_path: Path) -> None:
    source, file = FilesSource(kind="files", path="a.txt"), tmp_path / "a.txt"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        file.write_bytes("The café is old.\r\n".encode(encoding))
        [document] = read_files(source, tmp_path)
        assert sentences(document.text) == ["The café is old."]
    file.write_bytes("The café is old.".encode("latin-1"))
    with pytest.raises(UsageError, match="it is not text in UTF-8; save it in UTF-8"):
        read_files(source, tmp_path)


def test_captions_and_entries_that_are_wrapped_stay_whole() -> None:
    lines = [
        *PAGE[2:5],
        "can row.",
        "Figure 1: The port of Vel-",
        "mora in winter.",
        "* Velmora has",
    ]
    passages = passages_of_pages(["\n".join([*lines, "boats.", SENTENCES[0]])])
    assert [passage.text for passage in passages if passage.left_out] == [
        "Figure 1: The port of Velmora in winter.",
        "* Velmora has boats.",
    ]
