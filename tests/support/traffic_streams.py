"""Simulated users of a live system: whose levels and mixes move, together or not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil, cos, inf, log, pi, sin, sqrt

import numpy as np

from biaswatch.shared.analysis.monitors.method import method_of
from biaswatch.shared.analysis.monitors.round_answers import summed
from biaswatch.shared.analysis.monitors.traffic_matching import count_users
from biaswatch.shared.contracts import Comparison, Method, Traffic, WatchedFeature, WatchedPair
from biaswatch.shared.stats.anytime.matched_planning import Arrivals, plan_matched
from biaswatch.shared.stats.arrays import Floats
from tests.support.window_rows import TrafficAnswer, columns_of, entrants_of, plan_of

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
HOUR_S = 3600
DAY_S = 24 * HOUR_S
ALPHA = 0.05
GENDER = WatchedPair(dimension="gender", a="female", b="male")
Rate = Callable[[float, str], float]
"""Of a moment, as a share of the whole time or of a day, and a topic."""
Moments = Callable[[np.random.Generator, int], Floats]


def evenly(rng: np.random.Generator, users: int) -> Floats:
    """Return moments that are spread over a window, as shares of it."""
    return rng.random(users)


def in_bursts(rng: np.random.Generator, users: int) -> Floats:
    """Return moments of which four in ten are in the fiftieth of a window around its middle."""
    return np.where(rng.random(users) < 0.4, 0.49 + 0.02 * rng.random(users), rng.random(users))


@dataclass(frozen=True)
class Stream:
    """Users of two groups who come in windows; each has one answer, refused or not."""

    name: str
    level: Rate
    """The second group's chance of a refusal."""
    first_share: Rate
    """The first group's share of users."""
    windows: int = 60
    users: int = 100
    window_s: int = HOUR_S
    gap: float = 0.0
    """What the first group's chance is higher by, at every moment in every topic."""
    topics: tuple[float, ...] = (1.0,)
    """How common each topic is."""
    moments: Moments = evenly
    by_day: bool = False
    """Whether rates depend on the time of the day; else, on the share of all windows."""

    def window(self, number: int, rng: np.random.Generator) -> list[TrafficAnswer]:
        """Return the answers of a window."""
        users = rng.poisson(self.users)
        times_s = (number + self.moments(rng, users)) * self.window_s
        topics = rng.choice(len(self.topics), users, p=self.topics)
        luck = rng.random((users, 2))
        return [
            self._answer(f"{number}-{n}", time_s, f"topic {topics[n]}", luck[n])
            for n, time_s in enumerate(times_s.tolist())
        ]

    def _answer(self, name: str, time_s: float, topic: str, luck: Floats) -> TrafficAnswer:
        place = (time_s / DAY_S) % 1 if self.by_day else time_s / self.window_s / self.windows
        first = bool(luck[0] < self.first_share(place, topic))
        refused = float(luck[1] < self.level(place, topic) + self.gap * first)
        return TrafficAnswer(
            key=name,
            user=name,
            groups={"gender": "female" if first else "male"},
            extractor="refusal",
            values={"refused": refused},
            answered_at=BEGIN + timedelta(seconds=time_s),
            facts={"topic": topic},
        )


def daily(middle: float, swing: float, phase: float = 0.0) -> Rate:
    """Return a rate that goes up and down by the day."""
    return lambda place, _: middle + swing * sin(2 * pi * (place + phase))


def moving(begin: float, end: float) -> Rate:
    """Return a rate that moves from one value to another."""
    return lambda place, _: begin + (end - begin) * place


def stepping(begin: float, end: float) -> Rate:
    """Return a rate that changes once, halfway."""
    return lambda place, _: begin if place < 0.5 else end


def steady(rate: float) -> Rate:
    """Return a rate that stays."""
    return lambda _, __: rate


def of_topic(rates: dict[str, float]) -> Rate:
    """Return a rate that the topic decides."""
    return lambda _, topic: rates[topic]


def _in_the_evening(place: float, _: str) -> float:
    return 0.0 if place < 0.5 else 0.5


def _topic_levels(topics: int) -> dict[str, float]:
    return {f"topic {n}": 0.2 + 0.4 * (n % 5) / 4 for n in range(topics)}


def _topic_shares(topics: int) -> dict[str, float]:
    return {f"topic {n}": 0.15 + 0.7 * (n % 5) / 4 for n in range(topics)}


def _rare(topics: int) -> tuple[float, ...]:
    weights = 1 / np.arange(1, topics + 1)
    return tuple((weights / weights.sum()).tolist())


BY_TOPIC = ("topic",)
EQUAL = [
    Stream("level .3 to .5, mix 80/20 to 40/60", stepping(0.3, 0.5), stepping(0.8, 0.4)),
    Stream("level .3 to .4, mix 70/30 to 40/60", moving(0.3, 0.4), moving(0.7, 0.4)),
    *(
        Stream(
            f"a daily cycle in windows of a day, {name}", daily(0.4, 0.1), daily(0.5, 0.3, phase),
            windows=30, users=400, window_s=DAY_S, by_day=True,
        )
        for name, phase in (("in phase", 0.0), ("a quarter of a day apart", 0.25))
    ),
    Stream(
        "a daily cycle in windows of an hour", daily(0.4, 0.1), daily(0.5, 0.3),
        windows=240, users=40, by_day=True,
    ),
    Stream(
        "bursts of the first group with many refusals",
        lambda place, _: 0.6 if abs(place * 60 % 1 - 0.5) < 0.01 else 0.3,
        lambda place, _: 0.8 if abs(place * 60 % 1 - 0.5) < 0.01 else 0.4,
        moments=in_bursts,
    ),
    Stream("three users an hour", moving(0.2, 0.6), moving(0.8, 0.2), windows=400, users=3),
    Stream(
        "a group that comes in the evening alone",
        lambda place, _: 0.3 + 0.3 * cos(2 * pi * place) ** 2, _in_the_evening,
        windows=30, users=300, window_s=DAY_S, by_day=True,
    ),
]  # fmt: skip
"""Groups that are equal at every moment; levels and mixes move."""
CONFOUNDED = [
    Stream(
        "three topics, which alone differ", of_topic(_topic_levels(3)), of_topic(_topic_shares(3)),
        topics=(0.4, 0.3, 0.3),
    ),
    Stream(
        "fifty topics, most of them rare", of_topic(_topic_levels(50)), of_topic(_topic_shares(50)),
        topics=_rare(50),
    ),
]  # fmt: skip
"""Groups that are equal in every topic; topics differ in level and in who asks about them."""


def traffic_of(stream: Stream, strata: tuple[str, ...] = ()) -> Traffic:
    """Return how such users are watched."""
    return Traffic(window_s=stream.window_s, strata=strata)


def comparison_of(method: Method, tolerance: float = 0.0) -> Comparison:
    """Return the comparison that is watched."""
    watched = WatchedFeature(
        extractor="refusal", feature="refused", method=method, tolerance=tolerance
    )
    return Comparison(watched=watched, pair=GENDER)


def users_until_alarm(
    stream: Stream, seed: int, method: Method, strata: tuple[str, ...] = (), tolerance: float = 0.0
) -> float:
    """Return how many users had come when a monitor alarmed, which looks after every window."""
    rng, comparison = np.random.default_rng(seed), comparison_of(method, tolerance)
    traffic, counts, users = traffic_of(stream, strata), None, 0
    plan = plan_of(comparison, traffic)
    for number in range(stream.windows):
        heard = stream.window(number, rng)
        users += len(heard)
        columns = columns_of(plan, heard)
        entrants = entrants_of(columns, {item.user for item in heard if item.user})
        added = count_users(comparison, columns, entrants, traffic)[0].counted.counts
        counts = added if counts is None else summed(counts, added)
        state = method_of(method).evidence([counts])
        if state.log_es_beyond(np.array([tolerance]))[0] >= -log(ALPHA):
            return float(users)
    return inf


def share_alarmed(
    stream: Stream, times: int, method: Method = Method.MATCHED, strata: tuple[str, ...] = ()
) -> float:
    """Return the share of monitors that ever alarm."""
    alarms = [users_until_alarm(stream, seed, method, strata) for seed in range(times)]
    return float(np.mean(np.isfinite(alarms)))


@dataclass(frozen=True)
class PlannedStream:
    """Users with a gap, and what a plan is told of them."""

    stream: Stream
    arrivals: Arrivals
    strata: tuple[str, ...] = ()
    tolerance: float = 0.0


PLANNED = [
    PlannedStream(Stream("50/50", steady(0.3), steady(0.5), 600, 120, gap=0.1), Arrivals(0.5, 120)),
    PlannedStream(
        Stream("15/85", steady(0.3), steady(0.15), 600, 120, gap=0.1), Arrivals(0.15, 120)
    ),
    PlannedStream(
        Stream("15/85, refusals of 15 % and 5 %, tolerance 5 points",
               steady(0.05), steady(0.15), 600, 120, gap=0.1),
        Arrivals(0.15, 120), tolerance=0.05,
    ),
    PlannedStream(
        Stream("50/50, four users an hour", steady(0.3), steady(0.5), 4000, 4, gap=0.1),
        Arrivals(0.5, 4),
    ),
    PlannedStream(
        Stream("30/70 in four topics, 40 users an hour", steady(0.3), steady(0.3), 600, 40,
               gap=0.1, topics=(0.25,) * 4),
        Arrivals(0.3, 10), strata=BY_TOPIC,
    ),
]  # fmt: skip


def planned_users(planned: PlannedStream) -> int:
    """Return how many users a plan says that 80 % of monitors need."""
    stream = planned.stream
    level = stream.level(0.0, "topic 0")
    first, second = (sqrt(mean * (1 - mean)) for mean in (level + stream.gap, level))
    result = plan_matched(
        stream.gap, (first, second), level, np.random.default_rng(1), alpha=ALPHA,
        arrivals=planned.arrivals, tolerance=planned.tolerance,
    )  # fmt: skip
    if result.units is None:
        raise ValueError(f"there is no plan for {stream.name}")
    return result.units


def users_needed(planned: PlannedStream, times: int) -> float:
    """Return by how many users 80 % of simulated monitors have alarmed."""
    result = [
        users_until_alarm(planned.stream, seed, Method.MATCHED, planned.strata, planned.tolerance)
        for seed in range(times)
    ]
    return sorted(result)[ceil(0.8 * times) - 1]
