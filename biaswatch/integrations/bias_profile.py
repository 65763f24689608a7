"""Export a bias profile: groups, hazards, measures, results, treatment and owner.

These are the headings that prEN 18283 asks for. The last two are decisions of people: they are kept
when the profile is exported again.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from biaswatch.integrations.formats import ExportRequest
from biaswatch.integrations.sources import ReportedRun, WatchedMonitor, source_named
from biaswatch.render.markdown import escape_md, markdown_table
from biaswatch.shared.contracts import Estimate, first_mistake
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text
from biaswatch.shared.presentation.findings import comparisons, title_of
from biaswatch.shared.presentation.tables import estimate_text
from biaswatch.written_files import check_ending, write_atomically

VERSION = 1
NOT_NAMED = "not named yet"


class ProfilePart(BaseModel):
    """A part of a profile."""

    model_config = ConfigDict(extra="forbid")


class ProfiledResult(ProfilePart):
    """One hazard: a number that may differ between two groups, and the finding."""

    hazard: str
    measure: str
    result: str
    """disparity, no_disparity, inconclusive or not_measured."""
    gap: Estimate
    detail: str
    treatment: str | None = None
    """The response to it, written by people."""


class BiasProfile(ProfilePart):
    """A bias profile of a model under test, or of a live system."""

    version: int = VERSION
    system: list[str]
    source: str
    """The run or the monitor."""
    at: AwareDatetime
    purpose: str
    groups: dict[str, list[str]]
    measures: list[str]
    results: list[ProfiledResult]
    warnings: list[str]
    owner: str | None = None
    """The responsible person or team, written by people."""
    notes: str | None = Field(default=None)
    """Further text by people."""


async def export(request: ExportRequest) -> str:
    """Write the profile as JSON and Markdown; keep the entries that people added."""
    output = Path(request.destination)
    check_ending(output, (".json",))
    kept = written_by_people(output)
    async with request.connect() as client:
        source = await source_named(client, request.source)
    profile = profile_of_monitor(source) if isinstance(source, WatchedMonitor) else profile_of_run(
        source
    )  # fmt: skip
    profile = with_decisions(profile, kept)
    write_atomically(output, profile.model_dump_json(indent=2))
    page = output.with_suffix(".md")
    write_atomically(page, as_markdown(profile))
    open_results = sum(row.treatment is None for row in profile.results)
    return (
        f"Wrote {output} and {page}: {len(profile.results)} results, {open_results} without a"
        f" treatment; owner {profile.owner or NOT_NAMED}."
    )


def profile_of_run(reported: ReportedRun) -> BiasProfile:
    """Return the profile of a run."""
    results = reported.results
    run, provenance = results.run, results.provenance
    instruments = provenance.instruments if provenance else []
    rows = comparisons(results.diagnoses)
    return BiasProfile(
        system=run.targets,
        source=f"run {run.run_id}",
        at=run.at,
        purpose=provenance.about if provenance else "",
        groups=_groups({d.dimension: [g.group for g in d.groups] for d in results.diagnoses}),
        measures=[f"{row.name} {row.version}: {row.instrument}" for row in instruments],
        results=[
            ProfiledResult(
                hazard=f"{row.model} {title_of(row.diagnosis)}: {row.pair}".strip(),
                measure=(
                    f"{row.diagnosis.extractor}, {row.diagnosis.claim}, level"
                    f" {row.diagnosis.alpha:g} over {row.diagnosis.family} comparisons, tolerance"
                    f" {row.diagnosis.tolerance:g}"
                ),
                result=row.diagnosis.summary(row.gap).value,
                gap=row.gap.gap,
                detail=row.sentence,
            )
            for row in rows
        ],
        warnings=[*results.warnings, *([results.incomplete] if results.incomplete else [])],
    )


def profile_of_monitor(monitor: WatchedMonitor) -> BiasProfile:
    """Return the profile of a monitor."""
    view, status = monitor.view, monitor.view.status
    return BiasProfile(
        system=[status.target],
        source=f"monitor {status.name}, {status.rounds} rounds",
        at=status.last_round_at or status.since,
        purpose=f"Watched with the suite {status.suite}." if status.suite else "Live traffic.",
        groups=_groups({"compared": [*{row.title for row in view.evidence}]}),
        measures=sorted({row.number for row in view.evidence}),
        results=[
            ProfiledResult(
                hazard=f"{row.number}: {row.title}",
                measure=f"{row.about}; level {status.alpha:g}, tolerance {row.tolerance:g}",
                result=row.verdict.value,
                gap=row.gap,
                detail=row.reason or "",
            )
            for row in view.evidence
        ],
        warnings=[f"Alarm {alarm.state}: {alarm.words or alarm.reason}" for alarm in view.alarms],
    )


def _groups(by_dimension: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {dimension: sorted(names) for dimension, names in sorted(by_dimension.items())}


def written_by_people(path: Path) -> BiasProfile | None:
    """Return the profile of an earlier export; None without one.

    Raises
    ------
    UsageError
        The file is not a bias profile, so it would be overwritten.
    """
    if not path.exists():
        return None
    try:
        return BiasProfile.model_validate(json.loads(read_text(path, "profile")))
    except ValidationError as error:
        why = first_mistake(error).in_words("the profile")
    except ValueError:
        why = "it is not JSON"
    raise UsageError(f"{path} is not a bias profile ({why}): name another file, or remove it.")


def with_decisions(profile: BiasProfile, earlier: BiasProfile | None) -> BiasProfile:
    """Return a profile with the owner, notes and treatments of an earlier one."""
    if earlier is None:
        return profile
    treatments = {row.hazard: row.treatment for row in earlier.results}
    results = [
        row.model_copy(update={"treatment": treatments.get(row.hazard)}) for row in profile.results
    ]
    kept = {"owner": earlier.owner, "notes": earlier.notes, "results": results}
    return profile.model_copy(update=kept)


def as_markdown(profile: BiasProfile) -> str:
    """Return the profile as a page; names and texts are escaped."""
    groups = [
        f"- {escape_md(dimension)}: {escape_md(', '.join(names))}"
        for dimension, names in profile.groups.items()
    ]
    rows = (
        [row.hazard, row.measure, row.result, estimate_text(row.gap), row.treatment or "none yet"]
        for row in profile.results
    )
    lines = [
        *(f"# Bias profile: {escape_md(', '.join(profile.system))}", ""),
        f"{escape_md(profile.source)}, {profile.at:%Y-%m-%d %H:%M} UTC.",
        escape_md(profile.purpose),
        *("", f"Owner: {escape_md(profile.owner or NOT_NAMED)}", ""),
        *("## Groups", "", *groups, ""),
        *("## Measures", "", *(f"- {escape_md(measure)}" for measure in profile.measures), ""),
        *("## Hazards, results and treatment", ""),
        *markdown_table(("hazard", "measure", "result", "gap", "treatment"), rows),
        *("", "An inconclusive result does not show that groups are treated alike.", ""),
        *(f"- {escape_md(warning)}" for warning in profile.warnings),
    ]
    return "\n".join([*lines, *(["", escape_md(profile.notes)] if profile.notes else []), ""])
