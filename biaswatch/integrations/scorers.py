"""Our extractors as scorers of MLflow and Inspect, whose own packages the caller has installed."""

from importlib import import_module
from typing import Any

from biaswatch.measuring import TextMeasurer
from biaswatch.services.extractor.domain import Measured
from biaswatch.shared.errors import UsageError


def mlflow_scorer(*extractors: str) -> Any:
    """Return a scorer for `mlflow.genai.evaluate`: a feedback for each feature of an output.

    A feature without a value is a feedback with an error, which says why.

    Raises
    ------
    UsageError
        MLflow is not installed, or an extractor is unknown.
    """
    decorator = peer_module("mlflow.genai.scorers", "mlflow").scorer
    feedback = peer_module("mlflow.entities", "mlflow").Feedback
    measurer = TextMeasurer.named(extractors)

    def biaswatch(outputs: Any) -> list[Any]:
        return [
            feedback(name=name, value=value, error=None if value is not None else reason)
            for name, value, reason in features_of(measurer, outputs)
        ]

    return decorator(biaswatch)


def features_of(measurer: TextMeasurer, output: Any) -> list[tuple[str, float | None, str]]:
    """Return name, value and reason for a missing value of each feature of an output.

    MLflow hands over a missing output as NaN.
    """
    is_missing = output is None or output != output
    text = None if is_missing else output if isinstance(output, str) else str(output)
    measured: dict[str, list[Measured]] = measurer.measure([text])
    return [
        (
            f"{name}.{feature}",
            outcome[0].get(feature),
            outcome[1] or "it has no value for this text",
        )
        for name, [outcome] in measured.items()
        for feature in measurer.extractors[name].features
    ]


def peer_module(name: str, package: str) -> Any:
    """Import a module of another tool.

    Raises
    ------
    UsageError
        The tool is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(
            f"This needs {package}, which is not installed: pip install {package}"
        ) from None
