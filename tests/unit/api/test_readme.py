"""The README's Python is run as it stands."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[3] / "README.md"


def test_the_python_of_the_readme_runs_and_prints_what_it_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "examples").symlink_to(README.parent / "examples")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - it is ours
    printed = re.search(r"print\(.*?\)  # (.*?) \.\.\.", code)
    assert printed is not None
    assert printed[1] in capsys.readouterr().out
