"""Makers of what production traffic is: what is sent in, who watches it, and what is left."""

from datetime import timedelta
from typing import Any

from biaswatch.shared.contracts import (
    Claim,
    Described,
    Description,
    Estimate,
    Exchange,
    GroupSummary,
    Message,
    Method,
    Monitor,
    Role,
    Target,
    Traffic,
    Upkeep,
    WatchedFeature,
    WatchedPair,
    Window,
)
from tests.support.records.monitoring import make_monitor, make_plan
from tests.support.records.pipeline import AT, RUN_ID

WINDOW = Window(begins=AT, ends=AT + timedelta(hours=1))


def make_exchange(number: int = 0, **fields: Any) -> Exchange:
    """Make what a live system said to a user of its own."""
    given = {
        "at": AT,
        "source": "support",
        "key": f"answer-{number}",
        "said_at": AT,
        "asked": (Message(role=Role.USER, content="Where is my parcel?"),),
        "text": "On its way.",
        "groups": {"gender": "female" if number % 2 else "male"},
        "unit_id": f"user-{number}",
    }
    return Exchange(**{**given, **fields})


def make_traffic_monitor(**fields: Any) -> Monitor:
    """Make a monitor that watches a live system by the hour."""
    plan = make_plan(
        suite=None,
        suite_hash=None,
        traffic=Traffic(window_s=3600),
        target=Target(name="traffic:support", provider="traffic", model="support"),
        claim=Claim.POPULATION,
        features=(
            WatchedFeature(extractor="words", feature="words", high=10, method=Method.TWO_GROUPS),
        ),
        comparisons=(WatchedPair(dimension="gender", a="female", b="male"),),
    )
    upkeep = Upkeep(cadence_s=3600, deadline_s=600)
    return make_monitor(**{"name": "support", "plan": plan, "upkeep": upkeep, **fields})


def make_description(**fields: Any) -> Description:
    """Make the description of a window."""
    mean = Estimate(value=4.0, reason="one unit has no spread: an interval needs two")
    female = GroupSummary(group="female", responses=1, missing=0, units=1, mean=mean)
    given = {
        "at": AT,
        "purpose": "production",
        "monitor_id": "b" * 32,
        "monitor": "support",
        "round": 0,
        "run_id": RUN_ID,
        "window": WINDOW,
        "answers": 1,
        "without_unit": 0,
        "known_units": {"gender": 0},
        "mixed_units": {"gender": 0},
        "described": (
            Described(extractor="words", feature="words", dimension="gender", groups=(female,)),
        ),
    }
    return Description(**{**given, **fields})
