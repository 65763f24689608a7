"""Checks of a suite, without calls to a model: twins, names, answers, size, random factors."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from biaswatch.building.twin_differences import TwinDifference, unexplained
from biaswatch.shared.contracts import Suite, SuiteProbe, set_of
from biaswatch.shared.contracts.suite import Claim
from biaswatch.shared.lookup import grouped
from biaswatch.shared.stats.comparisons.random_factors import MIN_LEVELS

MAX_LENGTH_GAP = 4.0
"""Largest difference of mean lengths of names, in characters."""
MAX_WORDS_GAP = 0.5
MAX_USES_RATIO = 3.0
"""Largest ratio of the uses of two names of one group."""
MAX_ANSWER_SHARE = 0.6
"""Share of one expected answer above which guessing it pays."""
STATED = re.compile(
    r"\b(?:the )?(?:expected|correct|right) (?:answer|rating|choice|option)\b\W{0,3}(?:is|:|=)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SuiteCheck:
    """One question about a suite, and its answer."""

    name: str
    passed: bool | None
    """None if the check does not apply to the suite."""
    sentence: str
    details: tuple[str, ...] = ()


def checks_of(suite: Suite, named: Collection[str] = ()) -> list[SuiteCheck]:
    """Return all checks of a suite; `named` holds further words that name groups."""
    twins = list(_twins(suite.probes))
    return [
        _twins_differ_in_groups(twins, named),
        _sets_are_complete(suite),
        _names_are_balanced(suite, twins),
        _answers_do_not_leak(suite),
        _enough_values(suite, twins),
        _factors_are_declared(suite),
    ]


def _twins(probes: Sequence[SuiteProbe]) -> Iterator[list[SuiteProbe]]:
    """Yield the twins of each set that differ in the same dimensions."""
    members = grouped(
        ((set_of(probe), tuple(sorted(probe.groups))), probe) for probe in probes if probe.groups
    )
    yield from (twins for twins in members.values() if len(twins) > 1)


def _twins_differ_in_groups(
    twins: Sequence[Sequence[SuiteProbe]], named: Collection[str]
) -> SuiteCheck:
    name = "twins differ in the group alone"
    total = len({set_of(members[0]) for members in twins})
    if not twins:
        return SuiteCheck(name, None, "The suite has no twins: no set holds two groups.")
    differences = unexplained(twins, named)
    if not differences:
        return SuiteCheck(name, True, f"Holds in all {total} sets.")
    sets = len({difference.set for difference in differences})
    sentence = f"Fails in {sets} of {total} sets."
    return SuiteCheck(name, False, sentence, tuple(map(_difference_text, differences)))


def _difference_text(difference: TwinDifference) -> str:
    a, b = " ".join(difference.words_a) or "nothing", " ".join(difference.words_b) or "nothing"
    return f"{difference.set}: {difference.a} has {a!r}, {difference.b} has {b!r}"


def _sets_are_complete(suite: Suite) -> SuiteCheck:
    """Compare the groups of each set with those of the other sets of its dimensions."""
    name = "every set has every group"
    groups: dict[tuple[str, ...], dict[str, set[tuple[str, ...]]]] = {}
    for probe in suite.probes:
        if probe.groups:
            dimensions = tuple(sorted(probe.groups))
            sets = groups.setdefault(dimensions, {})
            sets.setdefault(set_of(probe), set()).add(tuple(probe.groups[d] for d in dimensions))
    if not groups:
        return SuiteCheck(name, None, "No probe has a group.")
    lacking_by_set = [
        (set_name, lacking)
        for sets in groups.values()
        for set_name, present in sets.items()
        if (lacking := set().union(*sets.values()) - present)
    ]
    total = len(set().union(*groups.values()))
    if lacking_by_set:
        incomplete = len({set_name for set_name, _ in lacking_by_set})
        sentence = f"{incomplete} of {total} sets lack a group; their twins count for less."
        missing = tuple(
            f"{set_name} lacks {', '.join('/'.join(group) for group in sorted(lacking))}"
            for set_name, lacking in lacking_by_set
        )
        return SuiteCheck(name, False, sentence, missing)
    return SuiteCheck(name, True, f"Holds in all {total} sets.")


def _names_are_balanced(suite: Suite, twins: Sequence[Sequence[SuiteProbe]]) -> SuiteCheck:
    """Compare how often the names of each group occur, and how long they are."""
    name = "names are balanced"
    values = _values_by_group(suite, twins)
    if not values:
        return SuiteCheck(name, None, "No stimulus differs between twins.")
    problems = [
        problem
        for (factor, dimension), by_group in values.items()
        for problem in _imbalances(f"{factor} of {dimension}", by_group)
    ]
    note = "Uses, characters and words are compared; tokens depend on the model, and no published"
    note += " ratings of names are stored."
    if problems:
        return SuiteCheck(name, False, f"Fails for some groups. {note}", tuple(problems))
    return SuiteCheck(name, True, f"Holds for all groups. {note}")


def _imbalances(of: str, by_group: Mapping[str, Counter[str]]) -> Iterator[str]:
    for (a, names_a), (b, names_b) in combinations(by_group.items(), 2):
        length = _mean_length(names_a) - _mean_length(names_b)
        if abs(length) > MAX_LENGTH_GAP:
            yield f"{of} {a} and {b}: mean lengths differ by {abs(length):.1f} characters"
        words = _mean_words(names_a) - _mean_words(names_b)
        if abs(words) > MAX_WORDS_GAP:
            yield f"{of} {a} and {b}: mean numbers of words differ by {abs(words):.1f}"
    for group, names in by_group.items():
        most, least = max(names.values()), min(names.values())
        if most > MAX_USES_RATIO * least:
            yield f"{of} {group}: one is used {most} times, another {least}"


Values = Mapping[tuple[str, str], Mapping[str, Counter[str]]]


def _values_by_group(suite: Suite, twins: Sequence[Sequence[SuiteProbe]]) -> Values:
    """Count the values of each stimulus that differs between twins, by dimension and group."""
    values: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    varied = {
        factor
        for members in twins
        for factor in members[0].stimuli
        if len({member.stimuli.get(factor) for member in members}) > 1
    }
    for probe in suite.probes:
        for factor in varied & probe.stimuli.keys():
            for dimension, group in suite.groups_of(probe).items():
                by_group = values.setdefault((factor, dimension), {})
                by_group.setdefault(group, Counter())[probe.stimuli[factor]] += 1
    return values


def _mean_length(names: Mapping[str, int]) -> float:
    return fmean(len(name) for name in names)


def _mean_words(names: Mapping[str, int]) -> float:
    return fmean(len(name.split()) for name in names)


def _answers_do_not_leak(suite: Suite) -> SuiteCheck:
    name = "expected answers do not leak"
    expected = [probe for probe in suite.probes if probe.expected is not None]
    if not expected:
        return SuiteCheck(name, None, "No probe has an expected answer.")
    problems = [
        f"{probe.key}: the text states an answer" for probe in expected if _states_answer(probe)
    ]
    shares = Counter(probe.expected for probe in expected)
    answer, most = shares.most_common(1)[0]
    if len(shares) > 1 and most > MAX_ANSWER_SHARE * len(expected):
        problems.append(f"{answer!r} is the expected answer of {most} of {len(expected)} probes")
    problems += _answers_by_group(expected)
    if problems:
        return SuiteCheck(name, False, "They can be guessed without the question.", tuple(problems))
    return SuiteCheck(
        name, True, "No text states its answer, and no answer is far more frequent than the others."
    )


def _states_answer(probe: SuiteProbe) -> bool:
    texts = [message.content for message in probe.as_messages] + list(probe.variables.values())
    return any(STATED.search(text) for text in texts)


def _answers_by_group(expected: Sequence[SuiteProbe]) -> Iterator[str]:
    """Find groups with only one expected answer where the suite has several."""
    answers: dict[tuple[str, str], set[str]] = {}
    for probe in expected:
        for item in probe.groups.items():
            answers.setdefault(item, set()).add(str(probe.expected))
    several = len({probe.expected for probe in expected}) > 1
    for (dimension, group), values in answers.items():
        if several and len(values) == 1:
            yield f"{dimension} {group} always has the expected answer {min(values)!r}"


def _enough_values(suite: Suite, twins: Sequence[Sequence[SuiteProbe]]) -> SuiteCheck:
    """Compare the numbers of names and texts with those that a wider claim needs."""
    name = "enough names and texts for the claim"
    if suite.claim is Claim.BANK:
        return SuiteCheck(name, True, "The claim is about these very prompts (`claim: bank`).")
    if not suite.random:
        return SuiteCheck(name, None, "The suite declares no random factor.")
    problems = [
        f"{len(names)} values of {factor} for {dimension} {group}"
        for (factor, dimension), by_group in _values_by_group(suite, twins).items()
        for group, names in by_group.items()
        if factor in suite.random and len(names) < MIN_LEVELS
    ]
    for factor in suite.random:
        values = {v for p in suite.probes if (v := suite.random_of(p).get(factor)) is not None}
        if len(values) < MIN_LEVELS:
            problems.append(f"{len(values)} values of {factor}")
    need = f"A claim beyond the drawn values needs {MIN_LEVELS} a group"
    if problems:
        sentence = f"{need}; with fewer, verdicts are about these values only."
        return SuiteCheck(name, False, sentence, tuple(problems))
    return SuiteCheck(name, True, f"{need}, which every factor has.")


def _factors_are_declared(suite: Suite) -> SuiteCheck:
    """Find stimuli whose values repeat across sets and that are not declared as random."""
    name = "random factors are declared"
    factors = {factor for probe in suite.probes for factor in probe.stimuli}
    undeclared = sorted(factors - set(suite.random))
    if undeclared:
        return SuiteCheck(
            name, False, f"Add {', '.join(undeclared)} to `random`.", tuple(undeclared)
        )
    if not factors and suite.has_findings and suite.claim is Claim.POPULATION:
        sentence = "No probe has `stimuli`: write which name and which text each one uses."
        return SuiteCheck(name, False, sentence)
    if not factors:
        return SuiteCheck(name, None, "The suite has no stimuli.")
    return SuiteCheck(name, True, f"Random factors: {', '.join(suite.random)}.")
