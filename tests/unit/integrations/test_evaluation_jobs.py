"""Jobs of EvalHub and NeMo Evaluator; tests/peers/test_evaluation_services.py runs real ones."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from biaswatch.integrations import evalhub, nemo_evaluator
from biaswatch.integrations.evaluation_jobs import EvaluationJob, main, scores_of
from biaswatch.integrations.formats import ExportRequest
from biaswatch.integrations.sources import ReportedRun
from biaswatch.local.runs import RunResults
from biaswatch.shared.contracts import Estimate, Gap, Verdict
from biaswatch.shared.errors import UsageError
from tests.support.records import make_diagnosis, make_progress

INCONCLUSIVE = Gap(a="France", b="Peru", gap=Estimate(reason="no units"), verdict="inconclusive")
KNOWN = Gap(
    a="France", b="Chad", gap=Estimate(value=1, low=0.5, high=2), verdict=Verdict.NO_DISPARITY
)


def request(source: str, destination: Path) -> ExportRequest:
    return ExportRequest(source, str(destination), None, None)  # type: ignore[arg-type]


def scores(*gaps: Gap) -> dict[str, Any]:
    results = RunResults(make_progress(), [make_diagnosis(gaps=gaps)])
    return {
        f"{score.comparison}/{score.name}": (score.value, score.low, score.high)
        for score in scores_of(ReportedRun(results, []))
    }


def test_an_inconclusive_comparison_is_no_all_clear_and_an_undefined_gap_is_left_out() -> None:
    result = scores(INCONCLUSIVE, KNOWN)
    assert result["/no_disparity_share"] == (0.5, None, None)
    assert (result["/inconclusive"][0], result["/comparisons"][0]) == (1, 2)
    [(name, gap)] = [item for item in result.items() if item[0].endswith("/gap")]
    assert "France - Chad" in name
    assert gap == (1, 0.5, 2)


def test_without_comparisons_there_is_no_share() -> None:
    assert "/no_disparity_share" not in scores()


@pytest.mark.parametrize("url", ["http://host:8000/v1", "http://host:8000/v1/chat/completions"])
def test_the_target_is_the_server_and_its_key_is_not_shown(url: str) -> None:
    job = EvaluationJob("lending", "meta/llama", url, key="secret")
    assert job.target == "openai:meta/llama@http://host:8000/v1"
    assert "secret" not in repr(job)


def test_a_job_without_an_address_or_key_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lending", "--model", "m", "--output", str(tmp_path)]
    assert main([*words, "--url", ""]) == 2
    assert "http://HOST/v1" in capsys.readouterr().err
    assert main([*words, "--url", "http://h/v1", "--key-variable", "BIASWATCH_NO_KEY"]) == 2
    assert "holds no key" in capsys.readouterr().err


async def test_a_harness_of_nemo_evaluator_names_its_suite(tmp_path: Path) -> None:
    await nemo_evaluator.export(request("hiring-demo", tmp_path))
    folder = tmp_path / "core_evals" / "biaswatch_hiring_demo"
    definition = yaml.safe_load((folder / "framework.yml").read_text())
    assert definition["defaults"]["config"]["params"]["task"] == "hiring-demo"
    [evaluation] = definition["evaluations"]
    assert evaluation["defaults"]["config"]["type"] == "hiring-demo"
    compile((folder / "output.py").read_text(), "output.py", "exec")


async def test_a_provider_of_evalhub_has_suites_as_benchmarks(tmp_path: Path) -> None:
    await evalhub.export(request("hiring-demo", tmp_path / "biaswatch.yaml"))
    [benchmark] = yaml.safe_load((tmp_path / "biaswatch.yaml").read_text())["benchmarks"]
    assert benchmark["id"] == "hiring-demo"
    assert benchmark["primary_score"] == {"metric": "no_disparity_share", "lower_is_better": False}
    with pytest.raises(UsageError, match="suites of this package"):
        await evalhub.export(request("examples/monitor.yaml", tmp_path / "biaswatch.yaml"))


def test_parameters_that_a_job_cannot_have_are_refused_in_a_sentence() -> None:
    model = SimpleNamespace(name="m", url="http://h/v1")
    spec = SimpleNamespace(
        benchmark_id="lending", model=model, num_examples=None, parameters={"repeats": 2}
    )
    assert evalhub.job_of(spec, None).repeats == 2
    with pytest.raises(UsageError, match="shots"):
        evalhub.job_of(SimpleNamespace(**{**vars(spec), "parameters": {"shots": 2}}), None)
    with pytest.raises(UsageError, match="sets"):
        evalhub.job_of(SimpleNamespace(**{**vars(spec), "num_examples": 5}), None)
