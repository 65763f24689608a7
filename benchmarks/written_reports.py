"""Share of reports that pass without repair, with one, with two, and that fail.

Simulated writers plant typed numbers, wrong slots and wrong claims at random, in each attempt anew:

    python -m benchmarks.written_reports --subjects 1000 --share 0.3
"""

import argparse
import random
import re
from collections import Counter

from biaswatch.services.evaluator.domain.reports import Attempt, may_repair, report_of
from biaswatch.services.evaluator.domain.writing.draft import draft_in
from biaswatch.services.evaluator.domain.writing.draft_faults import draft_faults
from biaswatch.services.evaluator.domain.writing.prompt import writing_prompt
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.services.simulator.domain.planted_bias import PlantedModel
from biaswatch.services.simulator.domain.written_reports import report_answer
from biaswatch.shared.analysis.report_subjects import table_subject
from biaswatch.shared.contracts import Subject
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two

PROFILE = load_rubric().profiles["general"]
PLANTED_TEXTS = re.compile(r"(?<![\d.])7\.77(?!\d)|odds_ratio\.middle|settles the matter")
"""Texts of planted faults, which no reader may see."""


def random_subject(draw: random.Random) -> Subject:
    """Return the subject of a random table, with at least one case in each cell."""
    most = draw.choice((6, 12, 25))
    a, b, c, d = (draw.randrange(1, most) for _ in range(4))
    return table_subject(
        as_json(two_by_two(a, b, c, d)), (a, b, c, d), outcome="admission", value="admitted",
        groups=("men", "women"), alpha=0.05, least=15,
    )  # fmt: skip


def written(subject: Subject, model: PlantedModel, draw: random.Random) -> tuple[str, str]:
    """Return how a report ends, and its text."""
    attempts: list[Attempt] = []
    prompt = writing_prompt(subject, PROFILE)
    while not attempts or may_repair(attempts):
        reply = report_answer(prompt, model, draw)
        draft = draft_in(reply)
        faults = tuple(draft_faults(draft, subject, PROFILE))
        attempts.append(Attempt(reply, draft, faults))
    report = report_of(attempts, subject)
    return "failed" if report.failed else f"{report.repairs} repairs", report.text or ""


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--subjects", type=int, default=1000)
    parser.add_argument("--share", type=float, default=0.3)
    options = parser.parse_args()
    draw = random.Random(44)
    model = PlantedModel(
        report_faults=("number", "slot", "claim"), report_fault_share=options.share
    )
    ends, leaked = Counter[str](), 0
    for _ in range(options.subjects):
        end, text = written(random_subject(draw), model, draw)
        ends[end] += 1
        leaked += PLANTED_TEXTS.search(text) is not None
    for end, count in sorted(ends.items()):
        print(f"{end}: {count} of {options.subjects} ({count / options.subjects:.1%})")
    print(f"planted faults that a reader sees: {leaked}")


if __name__ == "__main__":
    main()
