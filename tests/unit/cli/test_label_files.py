"""Labels in files: what people and other tools write is read, and what is no label is said."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.exporting.labels import TaskFormat, tasks_text
from biaswatch.readers.labels import labels_in
from biaswatch.render.labels import print_label_plan
from biaswatch.shared.analysis.labels.queue import hidden_words
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.labels import LabelPlan
from tests.support.records import make_label_sample

ID, OTHER = "a" * 32, "b" * 32
TASKS = [{"response_id": ID, "question": "Who?", "answer": "=Anna, she said"}]


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_table_and_lines_of_ours_are_read(tmp_path: Path) -> None:
    table = f"response_id,value,person,note\n{ID},1,anna,sure\n{OTHER},,ben,\n{ID},,,\n"
    expected = [
        {"response_id": ID, "value": 1.0, "person": "anna", "note": "sure"},
        {"response_id": OTHER, "value": None, "person": "ben"},
    ]
    assert labels_in(written(tmp_path, "labels.csv", table)) == expected
    lines = f'{{"response_id": "{ID}", "value": 0.5, "person": "ben"}}\n'
    lines += f'{{"response_id": "{OTHER}", "value": null}}\n'
    assert labels_in(written(tmp_path, "labels.jsonl", lines)) == [
        {"response_id": ID, "value": 0.5, "person": "ben"}
    ]


def test_what_label_studio_exports_is_read(tmp_path: Path) -> None:
    choice = {"type": "choices", "value": {"choices": ["1"]}}
    rating = {"type": "rating", "value": {"rating": 4}}
    tasks = [
        {"data": {"response_id": ID}, "annotations": [
            {"completed_by": 7, "result": [choice]},
            {"completed_by": {"email": "ben@example.org"}, "result": [rating]},
            {"completed_by": 8, "was_cancelled": True, "result": []},
        ]},
    ]  # fmt: skip
    assert labels_in(written(tmp_path, "export.json", tasks)) == [
        {"response_id": ID, "value": 1.0, "person": "7"},
        {"response_id": ID, "value": 4.0, "person": "ben@example.org"},
        {"response_id": ID, "value": None, "person": "8"},
    ]


def test_what_argilla_exports_is_read_in_both_of_its_shapes(tmp_path: Path) -> None:
    new = {"id": ID, "responses": {"rude": [{"value": "1", "user_id": "u1"}]}}
    old = {
        "id": 3, "metadata": {"response_id": OTHER},
        "responses": [{"user_id": "u2", "values": {"rude": {"value": 0}}}],
    }  # fmt: skip
    assert labels_in(written(tmp_path, "records.json", [new, old])) == [
        {"response_id": ID, "value": 1.0, "person": "u1"},
        {"response_id": OTHER, "value": 0.0, "person": "u2"},
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", f"response_id,value\n{ID},much\n", "line 2: the label 'much' is not a number"),
        ("a.csv", "value\n1\n", "line 2 has no response_id"),
        ("a.csv", "response_id,value\n", "holds no labels"),
        ("a.csv", f'response_id,value,answer\n{ID},1,"{"x" * 200_000}"\n', "cannot be read as CSV"),
        ("a.json", "{", "is neither JSON nor JSON lines"),
        ("a.json", "[3]", "entry 1 is not an object"),
        ("a.jsonl", '{"annotations": [{"result": [{"value": {}}]}]}', "has no response_id"),
    ],
)
def test_what_is_no_label_is_said(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        labels_in(written(tmp_path, name, content))


@pytest.mark.parametrize("form", list(TaskFormat))
def test_what_is_exported_has_the_text_and_neither_group_nor_reading(form: TaskFormat) -> None:
    text = tasks_text(form, TASKS, make_label_sample())
    assert ID in text
    assert "Anna, she said" in text
    for item in ("France", "Peru", "probability", "words"):
        assert item not in text


def test_no_answer_is_a_formula_to_a_spreadsheet() -> None:
    table = tasks_text(TaskFormat.CSV, TASKS, make_label_sample())
    assert '"\'=Anna, she said"' in table


SEPARATED = 'Question: Who?\nReasoning: \u2028 as told, \x85 \x0b so it is\r\nAnswer: "Anna"'
"""What a judged pair may hold: lines, and all that somebody may take for the end of one."""


@pytest.mark.parametrize("form", list(TaskFormat))
def test_texts_of_many_lines_go_out_and_come_back_with_their_label(
    tmp_path: Path, form: TaskFormat
) -> None:
    tasks = [{"response_id": item, "question": "\x1d", "answer": SEPARATED} for item in (ID, OTHER)]
    text = tasks_text(form, tasks, make_label_sample())
    match form:
        case TaskFormat.CSV:
            text = text.replace(",,", ",1,anna")
        case TaskFormat.JSONL:
            # As tools write it that leave characters as they are.
            lines = [json.loads(line) for line in text.split("\n") if line]
            given = [{**line, "value": 1, "person": "anna"} for line in lines]
            text = "\n".join(json.dumps(item, ensure_ascii=False) for item in given)
        case TaskFormat.LABEL_STUDIO:
            by = {"completed_by": "anna", "result": [{"value": {"choices": ["1"]}}]}
            text = json.dumps([{**load, "annotations": [by]} for load in json.loads(text)])
        case TaskFormat.ARGILLA:
            response = {"rude": [{"value": "1", "user_id": "anna"}]}
            lines = [json.loads(line) for line in text.split("\n") if line]
            text = json.dumps([{**line, "responses": response} for line in lines])
    path = written(tmp_path, f"tasks.{'csv' if form is TaskFormat.CSV else 'json'}", text)
    assert labels_in(path) == [
        {"response_id": item, "value": 1.0, "person": "anna"} for item in (ID, OTHER)
    ]


def test_words_are_hidden_whole_whatever_their_case() -> None:
    assert hidden_words("She met Anna, ANNA and Annabel.", ["Anna", "she"]) == (
        "[...] met [...], [...] and Annabel."
    )
    assert hidden_words("Nothing.", []) == "Nothing."


def test_of_hidden_words_that_begin_alike_the_longest_goes_and_marks_are_no_pattern() -> None:
    words = ["Sri", "Sri Lanka", "sri lankan tea", "a-b]^", "\u0130zmir", "C++"]
    text = "Sri Lanka's tea, sri lankan teas, Sri; SRI LANKAN TEA; a-b]^ in \u0130zmir by c++, c+"
    assert hidden_words(text, words) == (
        "[...]'s tea, [...] lankan teas, [...]; [...]; [...] in [...] by [...], c+"
    )


def test_hidden_words_that_are_all_alike_take_a_long_text_no_longer() -> None:
    places: list[str] = []

    class Counted(str):
        __slots__ = ()

        def startswith(self, *args: object) -> bool:
            places.append("")
            return super().startswith(*args)  # type: ignore[arg-type]

        def lower(self) -> str:
            return Counted(super().lower())

    text = Counted("a!" * 10_000)
    words = ["b", *("a!" * 250 + str(n) for n in range(499))]
    assert hidden_words(text, words) == text
    assert len(places) <= 2 * text.count("a")


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_instructions_that_cannot_be_read_are_a_users_mistake(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "rude.txt"
    if content is not None:
        file.write_bytes(content)
    arguments = ["labels", "sample", "run", "--feature", "judge.rude", "--instructions", str(file)]
    refused = CliRunner().invoke(app, arguments).exception
    assert isinstance(refused, UsageError)
    assert "rude.txt cannot be read" in str(refused)


def test_a_plan_of_labels_for_too_few_answers_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    plan = LabelPlan(
        extractor="rating", feature="rating", dimension="race", groups={"black": 12, "white": 12},
        spread=1, by_readings=0.2, units=12, repeats=1, labels_for_a_tenth=None, lines=[],
    )  # fmt: skip
    print_label_plan(plan)
    assert capsys.readouterr().out.endswith("fewer than 50 answers, too few to plan labels.\n")
