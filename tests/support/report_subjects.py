"""Subjects of the corpora of sentences: tables and gaps with known numbers."""

from biaswatch.shared.analysis.report_subjects import table_subject
from biaswatch.shared.contracts import Measure, Subject
from biaswatch.shared.stats.tables.stratified import stratified
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two

DEPARTMENTS = (
    (512, 313, 89, 19), (353, 207, 17, 8), (120, 205, 202, 391),
    (138, 279, 131, 244), (53, 138, 94, 299), (22, 351, 24, 317),
)  # fmt: skip
"""Admissions of men and women to six departments (Bickel, Hammel and O'Connell, 1975)."""


def table(
    counts: tuple[int, int, int, int],
    groups: tuple[str, str],
    outcome: str,
    value: str,
    strata: tuple[tuple[int, int, int, int], ...] = (),
) -> Subject:
    """Return the subject of a table, with strata where given."""
    within = stratified(strata, alpha=0.05) if strata else None
    from dataclasses import asdict

    return table_subject(
        as_json(two_by_two(*counts)), counts, outcome=outcome, value=value, groups=groups,
        alpha=0.05, least=15, strata=asdict(within) if within else None,
    )  # fmt: skip


def gap(
    groups: tuple[str, str],
    feature: str,
    estimate: tuple[float, float, float],
    p_value: float,
    effect: tuple[float, float, float],
    means: tuple[tuple[float, float, float], tuple[float, float, float]],
    units: int,
    missing: tuple[int, int],
    tolerance: float,
    conclusion: str,
) -> Subject:
    """Return the subject of one comparison of a run."""
    measures = [
        _estimate("gap", "Difference of Means", estimate, 0.0),
        Measure(name="gap_test", label="Test", value=p_value, p_value=p_value),
        _estimate("effect_size", "Effect Size", effect, 0.0),
        *(_estimate(f"mean_{n}", f"Mean {n}", mean, None) for n, mean in enumerate(means, 1)),
    ]
    return Subject(
        outcome=feature, value=f"the mean {feature}", groups=groups, cases=2 * units,
        measures=tuple(measures), units=(units, units), asked=(4 * units, 4 * units),
        missing=missing, tolerance=tolerance, comparisons=3, conclusion=conclusion,
        test="gap_test", caveats=("unit", *(("missing",) if any(missing) else ())),
    )  # fmt: skip


def _estimate(
    name: str, label: str, values: tuple[float, float, float], null: float | None
) -> Measure:
    value, low, high = values
    return Measure(name=name, label=label, value=value, low=low, high=high, no_difference=null)


def subjects() -> dict[str, Subject]:
    """Return the subjects by the name under which the corpora know them."""
    pooled = tuple(sum(stratum[i] for stratum in DEPARTMENTS) for i in range(4))
    a, b, c, d = pooled
    return {
        "strikes": table(
            (60, 140, 30, 170), ("northerners", "southerners"), "sentence", "third strike"
        ),
        "berkeley": table((a, b, c, d), ("men", "women"), "admission", "admitted", DEPARTMENTS),
        "callbacks": table(
            (12, 28, 9, 31), ("foreign names", "local names"), "answer", "callback"
        ),
        "promotion": table((7, 5, 2, 11), ("younger", "older"), "career", "promoted"),
        "ratings": gap(
            ("black", "white"), "rating", (-0.462, -0.765, -0.16), 0.003, (-0.58, -0.97, -0.19),
            ((2.913, 2.7, 3.126), (3.375, 3.16, 3.59)), 60, (12, 3), 0.2, "disparity",
        ),
        "sentiment": gap(
            ("women", "men"), "sentiment", (0.031, -0.048, 0.11), 0.44, (0.1, -0.15, 0.35),
            ((0.212, 0.156, 0.268), (0.181, 0.125, 0.237)), 80, (0, 0), 0.05, "inconclusive",
        ),
    }  # fmt: skip
