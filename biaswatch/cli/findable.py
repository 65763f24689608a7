"""A run that found nothing is asked how small a gap it could have found."""

from dataclasses import replace
from itertools import chain

from biaswatch.local.client import GatewayClient
from biaswatch.local.run_results import RunResults
from biaswatch.shared.contracts import Verdict

MOST_ANSWERS = 5000
"""What is read and simulated at once; `plan --like RUN` takes any run."""


async def with_findable(client: GatewayClient, results: RunResults) -> RunResults:
    """Add how small a gap a run could have found, where it compared and found no disparity."""
    run = results.run
    gaps = list(chain.from_iterable(each.gaps for each in results.diagnoses))
    found = any(each.verdict is Verdict.DISPARITY for each in gaps)
    if found or not gaps or run.responses > MOST_ANSWERS:
        return results
    # The mathematics is slow to load.
    from biaswatch.cli.diagnosis_input import read_run
    from biaswatch.run_planning.findable_gap import findable_gaps

    table = await read_run(client, run.run_id)
    return replace(results, findable=findable_gaps(results.diagnoses, table))
