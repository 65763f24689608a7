"""`bw.run` and `bw.connect` on a real platform, in scripts and where an event loop runs already."""

from pathlib import Path

import pandas as pd
import pytest

import biaswatch as bw

SUITE = """
name: kind
extractors: [words]
probes:
- {key: a, prompt: "Is she kind?", groups: {gender: female}, set: s1}
- {key: b, prompt: "Is he kind?", groups: {gender: male}, set: s1}
"""


async def test_a_run_in_a_notebook_gives_findings_and_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "suite.yaml").write_text(SUITE)
    run = bw.run(tmp_path / "suite.yaml", "simulator:biased")  # an event loop runs here
    answers = run.answers()
    assert isinstance(answers, pd.DataFrame)
    assert sorted(answers["groups.gender"]) == ["female", "male"]
    assert answers["text"].notna().all()
    assert answers["words.words"].notna().all()
    assert run.sentences
    again = await bw.run_async(tmp_path / "suite.yaml", "simulator:biased")
    assert again.id == run.id
