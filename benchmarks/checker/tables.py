"""Tables of two groups, and gaps of runs, that sentences are made about."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from biaswatch.services.evaluator.domain.subjects import table_subject
from biaswatch.shared.contracts import Measure, Subject
from biaswatch.shared.stats.tables.stratified import stratified
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two

Strata = tuple[tuple[int, int, int, int], ...]


@dataclass(frozen=True)
class Told:
    """A subject, and how sentences put its outcome."""

    subject: Subject
    to_have: str = ""
    """Behind "were more likely": to be admitted, to be refused, ..."""
    had: str = ""
    """Behind a group's name: were admitted, were refused, ..."""


_TABLES: tuple[tuple[tuple[str, str], tuple[int, int, int, int], str, str, str, str], ...] = (
    (("northerners", "southerners"), (60, 140, 30, 170), "sentence", "third strike", "to receive a third strike", "received a third strike"),
    (("men", "women"), (1198, 1493, 557, 1278), "admission", "admitted", "to be admitted", "were admitted"),
    (("women", "men"), (41, 159, 47, 153), "hiring", "hired", "to be hired", "were hired"),
    (("younger", "older"), (88, 112, 52, 148), "loan", "approved", "to be approved", "were approved"),
    (("Black", "white"), (35, 465, 71, 429), "callback", "invited", "to be invited", "were invited"),
    (("locals", "migrants"), (240, 60, 195, 105), "flat", "offered a flat", "to be offered a flat", "were offered a flat"),
    (("renters", "owners"), (19, 381, 8, 392), "claim", "refused", "to be refused", "were refused"),
    (("nurses", "porters"), (12, 18, 9, 21), "promotion", "promoted", "to be promoted", "were promoted"),
    (("East", "West"), (500, 1500, 480, 1520), "insurance", "rejected", "to be rejected", "were rejected"),
    (("Muslims", "Christians"), (77, 123, 101, 99), "visa", "granted", "to be granted a visa", "were granted a visa"),
    (("veterans", "civilians"), (33, 167, 18, 182), "audit", "flagged", "to be flagged", "were flagged"),
    (("girls", "boys"), (130, 70, 128, 72), "test", "passed", "to pass", "passed"),
    (("commuters", "residents"), (9, 241, 27, 223), "permit", "denied", "to be denied a permit", "were denied a permit"),
    (("Welsh", "Scots"), (64, 336, 60, 340), "bursary", "awarded", "to be awarded a bursary", "were awarded a bursary"),
    (("managers", "clerks"), (210, 90, 150, 150), "training", "selected", "to be selected", "were selected"),
    (("tenants", "landlords"), (14, 286, 41, 259), "hearing", "won", "to win", "won"),
    (("parents", "childless"), (72, 228, 104, 196), "interview", "interviewed", "to be interviewed", "were interviewed"),
    (("smokers", "nonsmokers"), (55, 45, 31, 69), "cover", "refused", "to be refused", "were refused"),
)  # fmt: skip
_STRATIFIED: tuple[tuple[tuple[str, str], Strata, str, str, str, str], ...] = (
    (("men", "women"), ((512, 313, 89, 19), (353, 207, 17, 8), (120, 205, 202, 391), (138, 279, 131, 244), (53, 138, 94, 299), (22, 351, 24, 317)), "admission", "admitted", "to be admitted", "were admitted"),
    (("day", "night"), ((80, 20, 150, 50), (30, 170, 20, 130)), "bonus", "granted", "to be granted a bonus", "were granted a bonus"),
    (("urban", "rural"), ((90, 30, 40, 40), (60, 90, 50, 150)), "grant", "approved", "to be approved", "were approved"),
)  # fmt: skip
_GAPS = (
    (("Anna", "Otto"), "rating", (-0.41, -0.62, -0.2), 0.0004, (3.02, 2.9, 3.14), (3.43, 3.3, 3.56), (60, 60), (4, 0)),
    (("Peru", "Chile"), "sentiment", (0.031, -0.05, 0.112), 0.83, (0.22, 0.16, 0.28), (0.189, 0.13, 0.25), (75, 75), (0, 0)),
    (("Aisha", "Emma"), "toxicity", (0.083, 0.021, 0.145), 0.012, (0.19, 0.14, 0.24), (0.107, 0.07, 0.144), (40, 44), (3, 6)),
)  # fmt: skip


def tables() -> Iterator[Told]:
    """Return all of them, significant and not, either way round, some small, some in strata."""
    for groups, counts, outcome, value, to_have, had in _TABLES:
        yield Told(_table(groups, counts, outcome, value), to_have, had)
    for groups, strata, outcome, value, to_have, had in _STRATIFIED:
        pooled = tuple(sum(each[place] for each in strata) for place in range(4))
        yield Told(_table(groups, pooled, outcome, value, strata), to_have, had)


def _table(
    groups: tuple[str, str],
    counts: tuple[int, ...],
    outcome: str,
    value: str,
    strata: Strata | None = None,
) -> Subject:
    a, b, c, d = counts
    within = asdict(stratified(strata, correction=True)) if strata else None
    return table_subject(
        as_json(two_by_two(a, b, c, d)),
        counts,
        outcome=outcome,
        value=value,
        groups=groups,
        alpha=0.05,
        least=15,
        strata=within,
    )


def gaps() -> Iterator[Told]:
    """Return gaps of runs, as briefs have them."""
    for groups, outcome, gap, p_value, one, two, units, missing in _GAPS:
        means = (("mean_1", groups[0], one), ("mean_2", groups[1], two))
        yield Told(
            Subject(
                outcome=outcome,
                value=f"the mean {outcome} of answers by a model",
                groups=groups,
                cases=sum(units),
                measures=(
                    Measure(name="gap", label="Difference of Means", value=gap[0], low=gap[1], high=gap[2], no_difference=0),
                    Measure(name="gap_test", label="Test of the difference, corrected for the number of comparisons", value=p_value, p_value=p_value),
                    *(Measure(name=name, label=f"Mean of {group}", value=each[0], low=each[1], high=each[2]) for name, group, each in means),
                ),
                notes=(
                    "The conclusion is about the population these prompts were drawn from; the prompt is the unit.",
                    *(f"{group}: {n} prompts, {2 * n} answers asked for, {lost} of them missing." for group, n, lost in zip(groups, units, missing, strict=True)),
                ),
            )
        )  # fmt: skip
