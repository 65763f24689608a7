"""Answers and measurements of runs from a gateway, as flat rows: one an answer."""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from pydantic_core import to_jsonable_python

from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.local.run_ids import may_name_run, whole_run_id
from biaswatch.shared.contracts.identity import is_id
from biaswatch.shared.contracts.traffic import TRAFFIC
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.exports import (
    AnswersPage,
    ExportedAnswer,
    ExportedFeatures,
    FeaturesPage,
    MonitorRun,
)

AT_ONCE = 500
PLAIN = ("run_id", "key", "at", "target", "scaffold", "repeat", "unit", "set")
SAID = ("text", "reasoning", "reason", "baseline", "model", "fingerprint", "finish_reason")
Row = dict[str, Any]


async def runs_named(client: GatewayClient, name: str, since: datetime | None) -> list[MonitorRun]:
    """Return the runs that are meant by a run's id or the beginning of it, or by a name.

    Names are those of monitors and live systems; they come before beginnings of ids.

    Raises
    ------
    UsageError
        Nothing is named so.
    """
    if is_id(name):
        if since is not None:
            raise UsageError("--since is for monitors and live systems: a run is exported whole.")
        found = await client.progress(name)
        return [MonitorRun(run_id=name, at=found.at)]
    monitors = await client.monitors()
    of_source = [each.name for each in monitors if each.target == f"{TRAFFIC}:{name}"]
    wanted = name if name in {each.name for each in monitors} else next(iter(of_source), None)
    if wanted is None and may_name_run(name):
        return await runs_named(client, await whole_run_id(client, name), since)
    if wanted is None:
        raise UsageError(
            f"{name} is no id of a run, no monitor and no live system that a monitor watches."
            " `biaswatch runs` and `biaswatch monitor list` list what there is."
        )
    query = f"?{urlencode({'since': since.isoformat()})}" if since else ""
    return await client.read(list[MonitorRun], path("monitors", wanted, "runs") + query)


MOST_NAMED = 3
"""Runs that are archived, by name in a sentence."""


def in_store(runs: Sequence[MonitorRun]) -> tuple[list[MonitorRun], str | None]:
    """Return the runs whose answers can be exported, and a sentence about the others, if any.

    Raises
    ------
    UsageError
        There are runs, and all of them are archived.
    """
    there = [each for each in runs if each.archived is None]
    away = [each for each in runs if each.archived is not None]
    if not away:
        return there, None
    if len(away) == 1:
        said = f"The run {away[0].run_id} is left out. {away[0].archived}"
    else:
        named = " ".join(each.run_id for each in away[:MOST_NAMED])
        more = f", and {len(away) - MOST_NAMED:,} more" if len(away) > MOST_NAMED else ""
        said = (
            f"{len(away):,} runs are left out, whose answers are archived, from"
            f" {away[0].at:%Y-%m-%d %H:%M} to {away[-1].at:%Y-%m-%d %H:%M} UTC: {named}{more}."
            " `biaswatch archive list` says where they are, and `biaswatch archive restore RUN...`"
            " brings back those that are not removed; then export again."
        )
    if not there:
        raise UsageError(f"There is nothing to export. {said}")
    return there, said


async def exported_rows(client: GatewayClient, runs: Sequence[MonitorRun]) -> AsyncIterator[Row]:
    """Yield a row for each answer of these runs."""
    for each in runs:
        after: str | None = ""
        while after is not None:
            query = urlencode({"after": after, "limit": AT_ONCE})
            where = path("runs", each.run_id, "responses")
            page = await client.read(AnswersPage, f"{where}?{query}")
            where = path("runs", each.run_id, "features")
            measured = await client.read(FeaturesPage, f"{where}?{query}")
            for row in rows_of_page(page.answers, measured.features):
                yield row
            after = page.after


def rows_of_page(
    answers: Iterable[ExportedAnswer], measured: Iterable[ExportedFeatures]
) -> list[Row]:
    """Return the rows of a page: who, what was asked and said, and every number."""
    by_answer: dict[str, list[ExportedFeatures]] = {}
    for each in measured:
        by_answer.setdefault(each.response_id, []).append(each)
    return [_row(each, by_answer.get(each.response_id, [])) for each in answers]


def _row(answer: ExportedAnswer, measured: Iterable[ExportedFeatures]) -> Row:
    of_traffic = answer.target.startswith(f"{TRAFFIC}:")
    row: Row = {"id": answer.key if of_traffic else answer.response_id}
    row |= {name: getattr(answer, name) for name in PLAIN}
    row["at"] = answer.at.isoformat() if answer.at else None
    row |= {f"groups.{name}": group for name, group in sorted(answer.groups.items())}
    row |= {f"facts.{name}": fact for name, fact in sorted(answer.facts.items())}
    asked = to_jsonable_python(answer.messages)
    row["messages"] = json.dumps(asked, ensure_ascii=False) if asked else None
    row |= {name: getattr(answer, name) for name in SAID}
    for each in measured:
        row[f"{each.extractor}.version"] = each.version
        row[f"{each.extractor}.missing"] = each.missing
        row |= {f"{each.extractor}.{name}": value for name, value in each.values.items()}
        row |= {f"{each.extractor}.{name}.baseline": v for name, v in each.baseline.items()}
    return row
