"""Facts that join users of traffic: companies and accounts are pointed out, topics are not."""

import pytest

from biaswatch.shared.analysis.monitors.shared_facts import SharedFacts
from biaswatch.shared.analysis.monitors.window_writing import WindowAnswer


def answers_of(facts_of_users: dict[str, list[dict[str, str]]]) -> list[WindowAnswer]:
    return [
        WindowAnswer(f"{user}/{n}", user, {}, {}, facts=facts)
        for user, rows in facts_of_users.items()
        for n, facts in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("fact", "values", "declared", "shown"),
    [
        ("company", 4, (), {"company": 4}),
        ("parent_org", 4, (), {"parent_org": 4}),
        ("company", 4, ("company",), {}),
        ("plan", 4, (), {}),
        ("ref", 12, (), {"ref": 12}),
        ("user_ref", 60, (), {}),
    ],
)
def test_a_fact_that_several_users_share_is_pointed_out(
    fact: str, values: int, declared: tuple[str, ...], shown: dict[str, int]
) -> None:
    users = {f"u{n}": [{fact: f"v{n % values}"}] * 2 for n in range(60)}
    facts = SharedFacts(declared)
    facts.add(answers_of(users))
    assert facts.found() == shown


def test_a_fact_of_answers_joins_no_users() -> None:
    facts = SharedFacts(())
    facts.add(answers_of({f"u{n}": [{"team": "a"}, {"team": f"b{n % 3}"}] for n in range(60)}))
    assert facts.found() == {}
