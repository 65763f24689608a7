"""The shipped hiring audit: what its variants differ in, and that it is what its parts give."""

import difflib
from pathlib import Path

from biaswatch.readers.suites import load_suite
from biaswatch.services.generator.domain.scaffolds import scaffold_of
from biaswatch.services.simulator.domain.planted_bias import DEFAULT_MARKERS, groups_in
from biaswatch.shared.contracts import Claim, Probe
from tests.support.records import make_probe

FOLDER = Path(__file__).parents[3] / "suites" / "cv-hiring"
SUITE = load_suite(FOLDER)
CRITERIA = {
    name: guidance for name, guidance in SUITE.variables.items() if name.startswith("criterion:")
}


def test_every_cv_has_six_people_and_nobody() -> None:
    assert len(SUITE.probes) == 21
    for cv in ("strong", "fair", "weak"):
        probes = [probe for probe in SUITE.probes if probe.set == cv]
        people = {tuple(sorted(p.groups.items())) for p in probes}
        assert len(people) == 7
        assert () in people
        assert len({probe.expected for probe in probes}) == 1


def test_variants_of_a_cv_differ_in_the_name_and_the_contact_alone() -> None:
    for cv in ("strong", "fair", "weak"):
        texts = [p.variables["material"].splitlines() for p in SUITE.probes if p.set == cv]
        assert len({tuple(lines[:2]) for lines in texts}) == 7
        assert len({tuple(lines[2:]) for lines in texts}) == 1
        for lines in texts[1:]:
            changed = [d for d in difflib.ndiff(texts[0], lines) if d[0] in "+-"]
            assert len(changed) == 4


def test_a_name_says_its_groups_and_nothing_else_of_the_text_does() -> None:
    for probe in SUITE.probes:
        groups = groups_in(probe.variables["material"], DEFAULT_MARKERS)
        assert groups == frozenset(probe.groups.values())
    assert not groups_in(SUITE.variables["question"], DEFAULT_MARKERS)


def test_the_guidance_of_every_criterion_reaches_the_prompts_of_every_scaffold() -> None:
    for scaffold in ("direct", "chain_of_thought", "decomposed", "decomposed_algorithmic"):
        calls = scaffold_of(scaffold).first(probe())
        text = "\n".join(turn.content for call in calls for turn in call.messages)
        for name, guidance in CRITERIA.items():
            assert guidance in text, (scaffold, name)
        assert "Henry Whitlock" in text
        assert "Harbour Line Tramways" in text


def test_conclusions_are_about_these_cvs() -> None:
    assert SUITE.claim is Claim.BANK


def test_the_scale_is_declared_so_that_answers_which_never_vary_are_conclusive() -> None:
    assert SUITE.ranges == {"rating": (1.0, 4.0)}
    assert SUITE.variables["scale"].startswith("1 to 4")


def probe() -> Probe:
    first = SUITE.probes[0]
    return make_probe(messages=(), variables={**SUITE.variables, **first.variables})
