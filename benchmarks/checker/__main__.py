"""Plant errors in sentences about two dozen tables; print how many are caught, by kind.

Eight sets are printed: templates that the checker was written with, every third of them, which was
looked at only at its end, phrasings by somebody who had not seen the checker, two halves of a
later set, of which one was set apart, three sets whose author had not read the checks, and sets by
another author. What is
false, not caught, and in no sentence that a report names as not understood passes unnoticed.
"""

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator

from benchmarks.checker.foreign_planted import foreign_planted
from benchmarks.checker.number_sentences import sentences_with_numbers
from benchmarks.checker.phrasing_sets import SETS, phrased
from benchmarks.checker.statement_sentences import statements
from benchmarks.checker.tables import Told, gaps, tables
from benchmarks.checker.varied_planted import varied_planted
from biaswatch.services.evaluator.domain.checks.report_faults import (
    statement_faults,
    unchecked_sentences,
)
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric

APART = 3
SEEN, APART_SET = "templates seen", "templates kept apart until the end"
FOREIGN = "phrasings by somebody else"
VARIED = ("phrasings of papers, journals and memos", "the half of them that was set apart")
NUMBERS, CORRECT = {"number", "place"}, "correct"
LEAST_NUMBERS, LEAST_STATEMENTS, MOST_FLAGGED = 0.98, 0.95, 0.02
Planted = tuple[Told, str, str, bool]
"""The subject, what was planted, the sentence, whether its template was kept apart."""


def main() -> int:
    """Print rates for seen templates and those kept apart; 1 where a bar is missed."""
    shown = "--show" in sys.argv
    profile = load_rubric().profiles["general"]
    caught: dict[str, dict[str, Counter[bool]]] = defaultdict(lambda: defaultdict(Counter))
    every: list[tuple[str, Told, str, str]] = [
        (APART_SET if apart else SEEN, told, kind, text) for told, kind, text, apart in planted()
    ]
    every += [(FOREIGN, *each) for each in foreign_planted()]
    every += [(VARIED[second], told, kind, text) for told, kind, text, second in varied_planted()]
    for name in SETS:
        every += [
            (f"phrasings written without the checks, {name} set", *each) for each in phrased(name)
        ]
    unread: dict[str, Counter[bool]] = defaultdict(Counter)
    for name, told, kind, text in every:
        found = statement_faults(text, told.subject, profile)
        caught[name][kind][bool(found)] += 1
        if not found and unchecked_sentences(text, told.subject)[1]:
            unread[name][kind == CORRECT] += 1
        if shown and bool(found) is (kind == CORRECT):
            print(f"{kind}: {text}  [{'/'.join(told.subject.groups)}] {found}")
    kept = True
    for name, mine in caught.items():
        print(name)
        for kind, counts in sorted(mine.items()):
            said = "wrongly flagged" if kind == CORRECT else "caught"
            print(f"  {kind}: {counts[True]} of {counts.total()} {said}")
        false = sum(counts.total() for kind, counts in mine.items() if kind != CORRECT)
        passed = sum(counts[False] for kind, counts in mine.items() if kind != CORRECT)
        silent = passed - unread[name][False]
        print(
            f"  false, not caught, and said to be not understood: {unread[name][False]} of {false}"
        )
        print(f"  false, and nothing said: {silent} of {false} ({silent / false:.3f})")
        print(
            f"  true, and said to be not understood: {unread[name][True]} of {mine[CORRECT].total()}"
        )
        for what, share, holds in _bars(mine):
            print(f"  {what}: {share:.3f}{'' if holds else ', short of its bar'}")
            kept = kept and holds
    return 0 if kept else 1


def planted() -> Iterator[Planted]:
    """Return every sentence, in a fixed order."""
    rng = random.Random(1)
    for told in (*tables(), *gaps()):
        for kind, text, place in (*sentences_with_numbers(told, rng), *statements(told)):
            yield told, kind, text, place % APART == APART - 1


def _bars(counts: dict[str, Counter[bool]]) -> Iterator[tuple[str, float, bool]]:
    numbers = sum((c for k, c in counts.items() if k in NUMBERS), Counter[bool]())
    words = sum((c for k, c in counts.items() if k not in {*NUMBERS, CORRECT}), Counter[bool]())
    share = numbers[True] / max(1, numbers.total())
    yield "numbers and places caught", share, share >= LEAST_NUMBERS
    share = words[True] / max(1, words.total())
    yield "statements caught", share, share >= LEAST_STATEMENTS
    right = counts.get(CORRECT, Counter())
    share = right[True] / max(1, right.total())
    yield "true sentences flagged", share, share <= MOST_FLAGGED


if __name__ == "__main__":
    sys.exit(main())
