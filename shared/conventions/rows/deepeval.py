"""Test runs and test cases of DeepEval."""

from collections.abc import Iterable

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import messages_of
from biaswatch.shared.conventions.rows.form import RowFormat, objects_in, reply_content
from biaswatch.shared.conventions.signals import Fields

LISTS = ("testCases", "test_cases", "conversationalTestCases", "conversational_test_cases",
         "test_results", "goldens")  # fmt: skip
OUTPUTS = ("actualOutput", "actual_output")


def _content(case: Fields) -> RecordedContent:
    """Read the output of a case, or the last turn of the assistant in a conversation."""
    if turns := objects_in(case.get("turns")):
        return reply_content(turns, prompt=messages_of(turns[:-1]), last=True)
    output = next((case[name] for name in OUTPUTS if case.get(name) is not None), None)
    return reply_content(output, prompt=messages_of(case.get("input")))


def _cases(row: Fields) -> Iterable[Fields]:
    held = [case for name in LISTS for case in objects_in(row.get(name))]
    return held or [row]


FORMAT = RowFormat(
    lambda row: bool(row.keys() & {*LISTS, *OUTPUTS}) or {"turns", "scenario"} <= row.keys(),
    _content,
    FieldMapping(id=("id", "name"), unit=("unit", "name"), time=("timestamp", "completionTime")),
    _cases,
)
