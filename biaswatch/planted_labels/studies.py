"""Simulated studies with an erring instrument and simulated labellers."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from biaswatch.exporting.labels import drawn_sample, send_labels, tasks_of
from biaswatch.local.client import POLL_EVERY_S, GatewayClient
from biaswatch.local.platform import embedded_platform
from biaswatch.local.runs import corrections_of
from biaswatch.planted_labels.rows import LabelledOutcome, LabelledRow, labelled_row, outcome
from biaswatch.planted_monitors.watching import measurable, progress_bar
from biaswatch.services.simulator.domain.planted_bias import PlantedModel, ReadingErrors, truth_in
from biaswatch.shared.contracts import CorrectedGap, LabelDraw, Suite, SuiteProbe
from biaswatch.shared.errors import TransientError
from biaswatch.shared.requests.exports import AnswersPage
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.shared.runtime.settings import Settings

GROUPS = {"black": "Kwame", "white": "Henry"}
"""Name of each group in the simulator."""
RATE, WRONG_GAP = 0.2, 0.1
RATING, SHIFT = 3.2, -0.4


@dataclass(frozen=True)
class LabelledCase:
    """A kind of study: truth, errors of the instrument, sampling and labellers."""

    name: str
    highest: int
    """Upper end of the scale; it begins at 0 for rates, at 1 for ratings."""
    gap: float = 0.0
    """True gap of the second group."""
    draw: LabelDraw = LabelDraw.EVEN
    people: int = 1
    person_error: float = 0.0
    """Share of labels that are a random value of the scale."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The ends of the scale."""
        return (0.0 if self.highest == 1 else 1.0, float(self.highest))

    @property
    def planted(self) -> PlantedModel:
        """The simulated model and the errors of its instrument."""
        if self.highest == 1:
            errors = ReadingErrors(
                sensitivity=0.8, false_positives=0.05, false_positive_gaps={"white": WRONG_GAP}
            )
            mean, noise = RATE, 0.0
        else:
            errors = ReadingErrors(shifts={"white": SHIFT}, noise_sd=0.6)
            mean, noise = RATING, 1.0
        return PlantedModel(
            rating_mean=mean,
            rating_noise_sd=noise,
            rating_gaps={"white": self.gap},
            reading_errors=errors,
        )

    def suite(self, answers: int) -> Suite:
        """Return a suite with this number of questions about each group."""
        low, high = self.bounds
        return Suite(
            name=f"labelled-{self.highest}",
            extractors=("rating",),
            features=("rating",),
            ranges={"rating": (low, high)},
            probes=tuple(
                SuiteProbe(
                    key=f"{group}-{number}",
                    prompt=f"This is letter {number} of {name}. Rate how rude the letter is"
                    f" from {low:g} to {high:g}, as a whole number.",
                    groups={"race": group},
                )
                for group, name in GROUPS.items()
                for number in range(answers)
            ),
        )


CASES: Sequence[LabelledCase] = (
    LabelledCase("rates", 1),
    LabelledCase("rates, gap of .1", 1, gap=0.1),
    LabelledCase("rates, unequal draw", 1, draw=LabelDraw.UNCERTAINTY),
    LabelledCase("rates, two people who differ", 1, people=2, person_error=0.1),
    LabelledCase("ratings", 5),
    LabelledCase("ratings, unequal draw", 5, draw=LabelDraw.UNCERTAINTY),
)


MAX_STUDIES_IN_PROGRESS = 2
"""Studies in progress at once; while one waits for corrections, another asks."""
CALLS = 8
PATIENCE_S = 300.0


@dataclass(frozen=True)
class SimulatedPerson:
    """A simulated labeller with a rate of random errors."""

    name: str
    case: LabelledCase

    def says(self, response_id: str, truth: float) -> float:
        """Return the label of an answer, deterministically."""
        rng = Random(f"{self.name} {response_id}")  # noqa: S311 - a simulation
        low, high = self.case.bounds
        if rng.random() < self.case.person_error:
            return float(rng.randint(int(low), int(high)))
        return truth


async def labelled_cases(
    settings: Settings,
    cases: Sequence[LabelledCase],
    *,
    studies: int,
    answers: int,
    labels: Sequence[int],
) -> list[LabelledRow]:
    """Run studies of each case, label them in steps, and return a row for each step.

    Raises
    ------
    TransientError
        A correction did not arrive in time.
    """
    plants = {model_name(case, n): case.planted for case in cases for n in range(studies)}
    async with embedded_platform(settings, plants=plants, calls=CALLS) as platform:
        await measurable(settings, cases[0].suite(1))
        client = GatewayClient(platform.url)
        try:
            outcomes = await _outcomes(client, cases, studies, answers, labels)
        finally:
            await client.close()
    return [
        labelled_row(
            case.name,
            case.gap,
            n,
            [study[step] for study in of_case],
            even=case.draw is LabelDraw.EVEN and not case.person_error,
        )
        for case, of_case in zip(cases, outcomes, strict=True)
        for step, n in enumerate(labels)
    ]


async def _outcomes(
    client: GatewayClient,
    cases: Sequence[LabelledCase],
    studies: int,
    answers: int,
    labels: Sequence[int],
) -> list[list[list[LabelledOutcome]]]:
    """Return outcomes by case, by study and by number of labels."""
    turns = asyncio.Semaphore(MAX_STUDIES_IN_PROGRESS)
    with progress_bar() as progress:
        bar = progress.add_task("studies labelled", total=len(cases) * studies)

        async def one(case: LabelledCase, number: int) -> list[LabelledOutcome]:
            async with turns:
                outcomes = await _study(client, case, number, answers, labels)
            progress.advance(bar)
            return outcomes

        return [await asyncio.gather(*(one(case, n) for n in range(studies))) for case in cases]


def model_name(case: LabelledCase, number: int) -> str:
    """Return the name of the simulated model of one repetition."""
    return f"{case.name}-{number}".replace(", ", "-").replace(" ", "-").replace(".", "")


async def _study(
    client: GatewayClient, case: LabelledCase, number: int, answers: int, labels: Sequence[int]
) -> list[LabelledOutcome]:
    """Run one study; return an outcome for each number of labels of a group."""
    suite_hash = await client.upload_suite(case.suite(answers))
    target = f"simulator:{model_name(case, number)}"
    run_id = (await client.start(RunRequest(suite_hash=suite_hash, targets=[target]))).run.id
    async for _ in client.follow(run_id):
        pass
    truth, groups = await true_answers(client, run_id)
    outcomes = []
    for labels_per_group in labels:
        body = {
            "feature": "rating",
            "wanted": len(groups) * labels_per_group,
            "draw": case.draw.value,
        }
        sample = (await drawn_sample(client, run_id, body)).sample
        labels_sent = [
            {"response_id": task["response_id"], "person": person.name,
             "value": person.says(task["response_id"], truth[task["response_id"]])}
            for person in (SimulatedPerson(f"person {n}", case) for n in range(case.people))
            for task in await tasks_of(client, sample)
        ]  # fmt: skip
        await send_labels(client, sample, labels_sent)
        drawn = {draw.response_id for draw in sample.drawn}
        labelled = {
            name: [truth[id_] for id_ in ids if id_ in drawn] for name, ids in groups.items()
        }
        truths = {name: [truth[id_] for id_ in ids] for name, ids in groups.items()}
        gap = await corrected_gap(client, run_id)
        outcomes.append(outcome(gap, labelled, truths, case.bounds))
    return outcomes


async def true_answers(
    client: GatewayClient, run_id: str
) -> tuple[dict[str, float], dict[str, list[str]]]:
    """Return the true value of each answer, and the answers of each group."""
    truth: dict[str, float] = {}
    groups: dict[str, list[str]] = defaultdict(list)
    after: str | None = ""
    while after is not None:
        page = await client.read(AnswersPage, f"/v1/runs/{run_id}/responses?after={after}")
        for answer in page.answers:
            if (value := truth_in(answer.text or "")) is not None:
                truth[answer.response_id] = value
                groups[answer.groups["race"]].append(answer.response_id)
        after = page.after
    return truth, groups


async def corrected_gap(client: GatewayClient, run_id: str) -> CorrectedGap:
    """Return the corrected gap once it includes all labels."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                corrections = await corrections_of(client, run_id)
                if corrections.corrections and not corrections.behind:
                    return corrections.corrections[0].gaps[0]
                await asyncio.sleep(POLL_EVERY_S)
    except TimeoutError:
        raise TransientError(
            f"Labels of the run {run_id} were not processed within {PATIENCE_S / 60:g} minutes:"
            " this machine is too busy, or something is broken."
        ) from None
