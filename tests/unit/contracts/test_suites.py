"""Suites: which of their names are groups of people, and which are strata of the questions."""

import pytest
from pydantic import ValidationError

from biaswatch.shared.contracts import Suite, SuiteProbe
from tests.support.records import make_probe

PROBE = SuiteProbe(
    key="a", prompt="?", groups={"race": "x", "template": "7"}, facts={"condition": "ambig"}
)


def suite_of(**fields: object) -> Suite:
    given = {"name": "tiny", "extractors": ("words",), "probes": (PROBE,)}
    return Suite.model_validate({**given, **fields})


def test_a_stratum_is_a_fact_or_a_group_that_is_not_compared() -> None:
    suite = suite_of(strata=("condition", "template"))
    probe = make_probe(groups=PROBE.groups, facts=PROBE.facts)
    assert suite.groups_of(probe) == suite.groups_of(PROBE) == {"race": "x"}
    assert suite.strata_of(probe) == {"condition": "ambig", "template": "7"}
    assert suite_of().groups_of(PROBE) == PROBE.groups
    assert suite_of().strata_of(PROBE) == {}


def test_a_stratum_that_no_probe_has_is_refused() -> None:
    with pytest.raises(ValidationError, match="no probe has the stratum 'level'"):
        suite_of(strata=("level",))


def test_strata_change_the_hash_and_a_suite_without_any_keeps_its_own() -> None:
    assert suite_of(strata=("condition",)).hash != suite_of().hash
    assert suite_of(strata=()).hash == suite_of().hash


def test_a_suite_of_strata_alone_has_findings_and_one_without_either_has_none() -> None:
    bare = {"key": "a", "prompt": "?", "facts": {"condition": "ambig"}}
    assert suite_of(probes=(bare,), strata=("condition",)).has_findings
    assert not suite_of(probes=(bare,)).has_findings
