"""A brief that was purged while its report was written ends its wait, and nothing else."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from biaswatch.services.evaluator.handlers.evaluating import JUDGING, WRITING, EvaluateBriefs
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.shared.contracts import ClosedBy
from biaswatch.shared.store import Closing, Store, migrate

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GONE = "f" * 32


@pytest.fixture
def evaluating(tmp_path: Path) -> Iterator[EvaluateBriefs]:
    migrate(url := f"sqlite:///{tmp_path / 'store.db'}")
    with Store.open(url) as store:
        yield EvaluateBriefs(store, load_rubric(), now=lambda: NOW, deadline_s=60)


@pytest.mark.parametrize("step", [WRITING, JUDGING])
def test_its_closing_leads_to_nothing(evaluating: EvaluateBriefs, step: str) -> None:
    closing = Closing(
        stage="evaluator",
        key=f"{step}.{GONE}",
        context={"brief": GONE, "step": step},
        closed_by=ClosedBy.DEADLINE,
        closed_at=NOW,
        expected=1,
        arrived=0,
        opening=0,
    )
    assert evaluating.closed(closing) == []
    assert evaluating._probes_of(closing.key) == []
