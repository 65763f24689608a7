"""MLflow's own client, in `.venv-mlflow`: `mlflow_client.py read ADDRESS`, or `score`."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import mlflow


def read(address: str) -> list[dict[str, Any]]:
    """Return the runs of the experiment as MLflow's client reads them."""
    mlflow.set_tracking_uri(address)
    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("biaswatch")
    assert experiment is not None
    return [described(client, run) for run in client.search_runs([experiment.experiment_id])]


def described(client: Any, run: Any) -> dict[str, Any]:
    """Return a run with its files, and every metric with all its steps."""
    run_id = run.info.run_id
    with tempfile.TemporaryDirectory() as folder:
        client.download_artifacts(run_id, "", folder)
        paths = [path for path in Path(folder).rglob("*") if path.is_file()]
        files = {str(path.relative_to(folder)): path.stat().st_size for path in paths}
    steps = {
        key: [[point.step, point.value] for point in client.get_metric_history(run_id, key)]
        for key in run.data.metrics
    }
    return {
        "status": run.info.status, "params": run.data.params, "tags": run.data.tags,
        "metrics": steps, "files": files,
    }  # fmt: skip


def score() -> list[dict[str, Any]]:
    """Return the feedback on three outputs by a scorer of ours."""
    from biaswatch.integrations.scorers import mlflow_scorer

    mlflow.set_tracking_uri(f"sqlite:///{tempfile.mkdtemp()}/mlflow.db")
    rows = [
        {"inputs": {"question": number}, "outputs": text}
        for number, text in enumerate(("A good day.", "I cannot help with that.", None))
    ]
    result = mlflow.genai.evaluate(data=rows, scorers=[mlflow_scorer("refusal,words")])
    return [
        {"question": row["request"]["question"], "feedback": [
            {"name": assessment["assessment_name"], **assessment["feedback"]}
            for assessment in row["assessments"]
        ]}
        for row in result.result_df.to_dict("records")
    ]  # fmt: skip


if __name__ == "__main__":
    json.dump(score() if sys.argv[1] == "score" else read(sys.argv[2]), sys.stdout)
