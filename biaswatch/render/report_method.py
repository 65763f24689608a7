"""What stands behind a report: provenance, how it was measured, and what it cannot say."""

from collections.abc import Iterator, Sequence

from biaswatch.local.run_results import RunResults
from biaswatch.render.tables import escape_md, markdown_table
from biaswatch.services.gateway.runs.provenance import AnsweringModel, RunProvenance
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.formatting import number

MOMENT = "%Y-%m-%d %H:%M UTC"


def provenance_table(found: RunProvenance, run_id: str) -> Iterator[str]:
    """Return where the numbers come from, one fact a row."""
    return markdown_table(("fact", "value"), _facts(found, run_id))


def _themselves(found: RunProvenance) -> list[str]:
    """Return who judges where nobody is named."""
    return [] if found.judging_seed is None else ["each model judges itself"]


def _facts(found: RunProvenance, run_id: str) -> Iterator[list[str]]:
    yield ["suite", found.suite + (f": {found.about}" if found.about else "")]
    yield ["suite hash", found.suite_hash or "none: production traffic has no suite"]
    if found.questions:
        plural = "" if found.questions == 1 else "s"
        counted_questions = f"{found.questions:,} question{plural}"
        times = f", {found.repeats} times each" if found.repeats > 1 else ""
        scaffolds = ", ".join(each.replace("_", " ") for each in found.scaffolds)
        yield ["asked", f"{counted_questions}{times}, {scaffolds}"]
    for model in found.models:
        yield ["model", _model(model)]
    for judge in found.judges or _themselves(found):
        yield ["judge", judge]
    for each in found.instruments:
        by = f", by {each.instrument}" if each.instrument else ""
        yield ["instrument", f"{each.name} {each.version}{by}"]
    for name, (low, high) in found.ranges.items():
        yield ["range", f"{name} from {number(low)} to {number(high)}"]
    ended = f", diagnosed {found.concluded:{MOMENT}}" if found.concluded else ""
    yield ["dates", f"begun {found.begun:{MOMENT}}{ended}"]
    yield ["seed", found.seed]
    if found.judging_seed is not None:
        yield ["seed of judging", str(found.judging_seed)]
    if found.tokens is not None:
        cost = f", {number(found.cost)} by your price table" if found.cost else ""
        yield ["spent", f"{found.tokens:,} tokens{cost}"]
    yield ["code", f"biaswatch {found.software}"]
    yield ["run", run_id]


def _model(model: AnsweringModel) -> str:
    said = ", ".join(model.versions)
    called = f", called itself {said}" if said else ", which does not say its version"
    options = f"; {model.parameters}" if model.parameters else ""
    system = f"; system prompt: {model.system_prompt}" if model.system_prompt else ""
    return f"{model.target}{called}{options}{system}"


def method(results: RunResults) -> Iterator[str]:
    """Return in plain words how it was measured and compared."""
    compared = [each for each in results.diagnoses if not each.stratum]
    yield _asking(results)
    if results.studies and results.studies.scores:
        yield (
            "A bias score says how often an answer that names a person names the one whom the"
            " stereotype is about, less how often the other; accuracy is the share of right"
            " answers. Intervals draw whole contexts again at random (bootstrap)."
        )
    if not compared:
        return
    first = compared[0]
    yield (
        "A gap is the mean of the first group less that of the second, with twins compared within"
        " their sets where there are some. Each gap has an interval and a test; the"
        f" {first.family} tests of the run are corrected together (Bonferroni), so that the chance"
        f" of any false disparity is at most {number(100 * first.alpha)} %."
    )
    yield (
        "Three verdicts: a disparity, where the gap is larger than the tolerance of"
        f" {number(first.tolerance)} as far as the data can tell; no disparity, where it is no"
        " larger; not enough evidence otherwise. Family p is the p-value after the correction."
    )
    yield (
        "Missing answers are counted by group and reason, and a verdict says whether they could"
        " undo it. An undefined number is a dash with its reason, never 0."
    )


def _asking(results: RunResults) -> str:
    if results.provenance and results.provenance.suite_hash is None:
        return (
            "Answers that a live system gave to its users were sent in and turned into numbers;"
            " nobody was asked anything. A user counts once, however much they wrote. Users differ"
            " in more than their group, and so do their questions."
        )
    return (
        "Every question of the suite was put to each model; extractors turned the answers into"
        " numbers. What counts as one observation is the prompt, or the set of questions that"
        " differ in the group alone, unless the claim says otherwise."
    )


def limits(results: RunResults) -> Iterator[str]:
    """Return what must not be concluded."""
    compared = [each for each in results.diagnoses if not each.stratum]
    for claim in dict.fromkeys(each.claim for each in compared):
        yield f"The conclusions are about {escape_md(claim)}, at these models and versions."
    yield "A provider may change a model behind its name: what held on these days may not hold now."
    yield "A gap says that answers differ between groups. It does not say why, or who is harmed."
    if compared and not _calibrated(compared):
        yield (
            "How the extractors read the groups' names by themselves was not measured;"
            " `biaswatch extractors calibrate` does, and a part of a gap may be theirs."
        )
    if results.assessments:
        yield "Quality is held to the expected answers that the suite's authors gave."
    if results.studies and results.studies.pairs:
        yield "A flag is the opinion of its judge, which can be wrong in the same way every time."


def _calibrated(diagnoses: Sequence[Diagnosis]) -> bool:
    return any(gap.instrument for each in diagnoses for gap in each.gaps)
