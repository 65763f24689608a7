"""Replies that no model should give, in every wire format, through every service."""

import gc

import pytest

from biaswatch.services.generator.domain.outcome import MAX_RESPONSE_BYTES
from biaswatch.shared.bus.port import MAX_RECORD_BYTES
from tests.integration.generator.hostile_run import hostile_run
from tests.support.hostile_replies import SHAPES

pytestmark = pytest.mark.slow


# A call that runs out of time just as its connection stands leaves the socket to the garbage
# collector: anyio loses sight of it. On a busy machine some of the silent replies end so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_every_reply_is_one_outcome_of_bounded_size_and_cost_and_the_run_ends() -> None:
    result = await hostile_run()
    assert result.faults == ()
    assert result.replies == 4 * len(SHAPES) >= 240
    gc.collect()  # what is left over is found here, and not in a test that follows


def test_what_is_recorded_fits_the_bus() -> None:
    assert MAX_RESPONSE_BYTES < MAX_RECORD_BYTES
