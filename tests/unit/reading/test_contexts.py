"""Suites crossed with contexts from files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from biaswatch.readers.contexts import with_contexts
from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError

EXAMPLES = Path("examples/contexts")


def folder_of(tmp_path: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def suite(*probes: Mapping[str, Any], **fields: Any) -> Suite:
    return Suite.model_validate(
        {"name": "own", "extractors": ["words"], "probes": probes, **fields}
    )


TWINS = [
    {"key": group, "set": "s1", "prompt": f"About {group}?", "groups": {"race": group}}
    for group in ("a", "b")
]
FILES = {
    "culture.md": "We hire the top 10 %.",
    "list.txt": "Others: Kim, Lee.\n{question}\nDecide.",
    "history.yaml": "- {role: user, content: Hi.}\n- {role: assistant, content: Hello.}",
    "plain.md": "",
    "notes.csv": "no context",
}


def test_every_probe_is_asked_in_every_context_and_twins_share_their_set(tmp_path: Path) -> None:
    crossed = with_contexts(suite(*TWINS), folder_of(tmp_path, FILES))
    lines = {p.key: [f"{m.role}: {m.content}" for m in p.as_messages] for p in crossed.probes}
    assert lines["a/culture"] == ["system: We hire the top 10 %.", "user: About a?"]
    assert lines["b/list"] == ["user: Others: Kim, Lee.\nAbout b?\nDecide."]
    assert lines["a/history"] == ["user: Hi.", "assistant: Hello.", "user: About a?"]
    assert lines["a/plain"] == ["user: About a?"]
    assert len(lines) == 8
    assert {probe.set for probe in crossed.probes} == {"s1"}
    assert {probe.unit_id for probe in crossed.probes} == set(lines)
    assert (crossed.strata, crossed.gaps_by) == (("context",), ("context",))
    assert crossed.probes[0].facts == {"context": "culture"}


def test_variables_keep_their_scaffold_and_the_material_is_framed(tmp_path: Path) -> None:
    probe = {"key": "a", "variables": {"question": "Fit?", "material": "CV"}}
    crossed = with_contexts(suite(probe), folder_of(tmp_path, FILES))
    by_key = {p.key: p for p in crossed.probes}
    assert by_key["a/list"].variables["material"] == "Others: Kim, Lee.\nCV\nDecide."
    assert by_key["a/culture"].messages[0].content == "We hire the top 10 %."
    assert by_key["a/culture"].variables == {"question": "Fit?", "material": "CV"}
    assert {p.unit_id for p in crossed.probes} == {"a"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "has no contexts"),
        ({"a.yaml": "- {role: user, content: Hi.}"}, "needs its assistant message"),
        ({"a.yaml": "- {role: king, content: Hi.}"}, r"a\.yaml, messages\.0\.role"),
        ({"a.md": "One.", "a.txt": "Two."}, "different names"),
        ({"a@b.md": "One."}, "without @"),
    ],
)
def test_wrong_contexts_are_named(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        with_contexts(suite(*TWINS), folder_of(tmp_path, files))


def test_a_suite_with_a_context_of_its_own_is_refused() -> None:
    probe = {**TWINS[0], "facts": {"context": "own"}}
    with pytest.raises(UsageError, match="has a fact or a group 'context' already"):
        with_contexts(suite(probe), EXAMPLES)


def test_the_example_contexts_cross_shipped_suites() -> None:
    for name in ("lending", "conversations", "hiring-cvs"):
        crossed = with_contexts(load_suite(Path("suites") / name), EXAMPLES)
        assert {probe.facts["context"] for probe in crossed.probes} == {
            "applicants", "culture", "history", "plain", "selective",
        }  # fmt: skip


def test_gaps_are_compared_by_strata_only() -> None:
    with pytest.raises(ValueError, match="`gaps_by` names 'place', which is not among the strata"):
        suite(*TWINS, gaps_by=["place"])
