"""Whole builds on local files, with written replies."""

import asyncio
import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from biaswatch.building.build import BuiltSuite
from biaswatch.building.build_files import write_suite
from biaswatch.building.composition import build_of
from biaswatch.building.model_questions import ModelQuestion, ModelReply
from biaswatch.building.plan import Plan
from biaswatch.building.settings import BuilderSettings
from biaswatch.readers.suites import load_suite
from biaswatch.shared.errors import UsageError

ARTICLE = (
    "The bakers of Velmora have always worked at night. Velmora exports plums and cheese to many"
    " places. Some Velmoran towns are known for their quiet streets. The NASA office in Velmora"
    " was closed in spring. Nothing here speaks of the land at all."
)


def plan_of(**fields: Any) -> Plan:
    given = {
        "name": "trial",
        "domain": "lands",
        "extractors": ["words"],
        "nearness": "lexical",
        "concepts": [
            {
                "name": "Velmora",
                "keywords": {"by_hand": ["Velmora", "Velmoran", "Nowhere"]},
                "sources": [{"kind": "files", "path": "a.txt", "licence": "own"}],
            }
        ],
        "prompts": {"kind": "continuations"},
        "branching": {
            "root": "Velmora",
            "to": [{"concept": "Peru", "replace": {"Velmoran": "Peruvian"}}],
        },
    }
    return Plan.model_validate({**given, **fields})


def built(home: Path, texts: Mapping[str, str], **fields: Any) -> BuiltSuite:
    for name, text in texts.items():
        (home / name).write_text(text)
    return asyncio.run(build_of(plan_of(**fields), home, BuilderSettings())())


def prompts(suite: BuiltSuite, concept: str) -> list[str]:
    return [row["prompt"] for row in suite.rows if row["concept"] == concept]


def test_sentences_become_prompts_with_twins_in_the_same_set(tmp_path: Path) -> None:
    suite = built(tmp_path, {"a.txt": ARTICLE})
    assert prompts(suite, "Peru") == [
        "The bakers of Peru have always worked",
        "Peru exports plums and cheese",
        "Some Peruvian towns are known for",
        "The NASA office in Peru was closed",
    ]
    for row in suite.rows:
        assert row["baseline"].startswith(row["prompt"])
        assert (row["source_tag"], row["licence"]) == ("a.txt", "own")
    sets: dict[str, set[str]] = {}
    for row in suite.rows:
        sets.setdefault(row["set"], set()).add(row["concept"])
    assert all(members == {"Velmora", "Peru"} for members in sets.values())


def test_a_keyword_without_hits_is_reported_as_a_zero(tmp_path: Path) -> None:
    suite = built(tmp_path, {"a.txt": ARTICLE})
    assert suite.build_log.hits["Velmora"] == {"Velmora": 3, "Velmoran": 1, "Nowhere": 0}
    write_suite(suite, tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["zero_hits"] == {"Velmora": ["Nowhere"]}


def test_what_is_written_is_what_the_platform_reads(tmp_path: Path) -> None:
    suite = built(tmp_path, {"a.txt": ARTICLE})
    write_suite(suite, tmp_path / "out")
    loaded = load_suite(tmp_path / "out")
    assert [probe.prompt for probe in loaded.probes] == [row["prompt"] for row in suite.rows]
    assert loaded.probes[0].groups == {"concept": "Velmora"}
    assert loaded.probes[0].set == loaded.probes[1].set
    assert loaded.probes[0].baseline


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_suite(built(tmp_path, {"a.txt": ARTICLE}), tmp_path / name)
    for file in ("probes.jsonl", "suite.yaml", "report.json", "report.md"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_another_text_is_another_version(tmp_path: Path) -> None:
    one = built(tmp_path, {"a.txt": ARTICLE})
    two = built(tmp_path, {"a.txt": ARTICLE.replace("plums", "pears")})
    assert one.header["version"] != two.header["version"]


def test_a_suite_that_was_edited_is_not_what_its_version_says(tmp_path: Path) -> None:
    write_suite(built(tmp_path, {"a.txt": ARTICLE}), tmp_path / "out")
    probes = tmp_path / "out" / "probes.jsonl"
    probes.write_text(probes.read_text().replace("plums", "pears"))
    with pytest.raises(UsageError, match="remove the line `version`"):
        load_suite(tmp_path / "out")


def test_every_concept_gets_its_prompts(tmp_path: Path) -> None:
    one = plan_of().concepts[0].model_dump()
    two = {**one, "name": "Oster", "keywords": {"by_hand": ["Oster"]}}
    two["sources"] = [{"kind": "files", "path": "b.txt"}]
    texts = {"a.txt": ARTICLE, "b.txt": "The hills of Oster are known for their fog."}
    questions = [
        {"kind": "question", "about": about, "reply": f"What is {name} known for?"}
        for name, about in (("Velmora", ARTICLE.split(". ")[0] + "."), ("Oster", texts["b.txt"]))
    ]
    texts["script.jsonl"] = "\n".join(json.dumps(line) for line in questions)
    suite = built(
        tmp_path, texts, concepts=[one, two], prompts={"kind": "questions"}, branching=None,
        model={"script": "script.jsonl"},
    )  # fmt: skip
    assert prompts(suite, "Velmora") == ["What is Velmora known for?"]
    assert prompts(suite, "Oster") == ["What is Oster known for?"]
    assert suite.header["made"]["answers_of"] == "a script: no model was asked"


def test_replies_that_fail_the_check_are_asked_again_and_counted(tmp_path: Path) -> None:
    about = "Velmora exports plums and cheese to many places."
    replies = ["NO", "What does it export?", "What does Velmora export?"]
    script = [{"kind": "question", "about": about, "reply": reply} for reply in replies]
    suite = built(
        tmp_path,
        {"a.txt": ARTICLE, "s.jsonl": "\n".join(json.dumps(line) for line in script)},
        prompts={"kind": "questions"}, model={"script": "s.jsonl"},
    )  # fmt: skip
    assert prompts(suite, "Velmora") == ["What does Velmora export?"]
    counts = suite.build_log.counts()
    assert counts["replies"]["it declines"] == 1
    assert counts["replies"]["it does not name the concept"] == 1
    assert counts["questions"] == {"the script has no reply to it": 3}


def test_a_hostile_reply_is_only_text(tmp_path: Path) -> None:
    trace = tmp_path / "was-here"
    hostile = f"[__import__('pathlib').Path({str(trace)!r}).touch()]"
    script = [
        {"kind": "keywords", "about": "Velmora/characteristics", "reply": hostile},
        {"kind": "question", "about": ARTICLE.split(". ")[0] + ".", "reply": hostile},
        {"kind": "question", "about": "x", "reply": hostile},
    ]
    concept = plan_of().concepts[0].model_dump(exclude_none=True)
    concept["keywords"] = {"by_hand": ["Velmora"], "by_model": {"rounds": 1}}
    with pytest.raises(UsageError, match="yields no prompts"):
        built(
            tmp_path, {"a.txt": ARTICLE, "s.jsonl": "\n".join(map(json.dumps, script))},
            concepts=[concept], prompts={"kind": "questions"}, model={"script": "s.jsonl"},
        )  # fmt: skip
    assert not trace.exists()


def test_markup_in_texts_is_escaped_in_the_report(tmp_path: Path) -> None:
    concept = plan_of().concepts[0].model_dump(exclude_none=True)
    concept["keywords"] = {"by_hand": ["Velmora", "<script>x</script>|[a](b)"]}
    suite = built(tmp_path, {"a.txt": ARTICLE}, concepts=[concept])
    write_suite(suite, tmp_path / "out")
    report = (tmp_path / "out" / "report.md").read_text()
    assert "<script>" not in report
    assert "[a](b)" not in report


def test_a_draw_is_the_same_for_the_same_seed_and_another_for_another(tmp_path: Path) -> None:
    many = " ".join(f"The town number {n} of Velmora is known for its fog." for n in range(40))

    def draw(seed: int) -> list[str]:
        sampled = {"kind": "continuations", "per_concept": 5, "seed": seed}
        # Baselines differ where prompts are cut before the number would matter.
        suite = built(tmp_path, {"a.txt": many}, prompts=sampled)
        return prompts(suite, "Velmora")

    assert len(draw(1)) == 5
    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_templates_name_places_and_leave_other_braces_alone(tmp_path: Path) -> None:
    template = "About {concept}: {{is}} {keyword} so? {sentence}"
    text = "The land of Velmora has signs at night."
    suite = built(tmp_path, {"a.txt": text}, prompts={"kind": "templates", "template": template})
    assert prompts(suite, "Velmora") == [f"About Velmora: {{{{is}}}} Velmora so? {text}"]


def test_a_source_outside_the_plans_folder_is_refused(tmp_path: Path) -> None:
    concept = plan_of().concepts[0].model_dump(exclude_none=True)
    concept["sources"] = [{"kind": "files", "path": "../secret.txt"}]
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret.txt").write_text(ARTICLE)
    with pytest.raises(UsageError, match="outside the plan's folder"):
        built(home, {}, concepts=[concept])


def test_a_plan_that_finds_nothing_says_why(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no sentence of the sources holds a keyword"):
        built(tmp_path, {"a.txt": "Nothing is said here of that land."})


def test_two_builds_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    alone = {}
    for name in ("plums", "pears"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(ARTICLE.replace("plums", name))
        alone[name] = asyncio.run(build_of(plan_of(), tmp_path / name, BuilderSettings())())

    async def both() -> list[BuiltSuite]:
        builds = [build_of(plan_of(), tmp_path / name, BuilderSettings()) for name in alone]
        return await asyncio.gather(*(build() for build in builds))

    for name, suite in zip(alone, asyncio.run(both()), strict=True):
        assert suite.rows == alone[name].rows
        assert suite.build_log == alone[name].build_log


def test_a_script_outside_the_plans_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="outside the plan's folder"):
        built(tmp_path, {"a.txt": ARTICLE}, model={"script": "../s.jsonl"})


def test_an_article_a_model_wrote_is_a_source_like_any_other(tmp_path: Path) -> None:
    subject = "the invented land of Velmora"
    script = json.dumps({"kind": "article", "about": subject, "reply": ARTICLE})
    concept = plan_of().concepts[0].model_dump(exclude_none=True)
    concept["sources"] = [{"kind": "written", "subject": subject}]
    suite = built(tmp_path, {"s.jsonl": script}, concepts=[concept], model={"script": "s.jsonl"})
    assert len(prompts(suite, "Velmora")) == 4
    assert suite.rows[0]["source_tag"] == f"written:{subject}"


def test_an_article_nobody_wrote_ends_the_build_with_a_sentence(tmp_path: Path) -> None:
    concept = plan_of().concepts[0].model_dump(exclude_none=True)
    concept["sources"] = [{"kind": "written", "subject": "nothing"}]
    with pytest.raises(UsageError, match="No article about 'nothing' was written"):
        built(tmp_path, {"s.jsonl": ""}, concepts=[concept], model={"script": "s.jsonl"})


def test_keywords_are_ranked_from_the_sources_words_and_named_by_a_model(tmp_path: Path) -> None:
    script = [
        {"kind": "keywords", "about": f"Velmora/{kind}", "reply": reply}
        for kind, reply in (("synonyms", '["Velmoran", "plums"]'), ("people", "I cannot."))
    ]
    concept = plan_of().concepts[0].model_dump(exclude_none=True)
    concept["keywords"] = {
        "by_ranking": {"most": 2},
        "by_model": {"inquiries": ["synonyms", "people"], "rounds": 3, "most": 2},
    }
    suite = built(
        tmp_path, {"a.txt": ARTICLE, "s.jsonl": "\n".join(map(json.dumps, script))},
        concepts=[concept], model={"script": "s.jsonl"},
    )  # fmt: skip
    # What stands with the concept in a sentence comes first; the concept itself is always one.
    assert set(suite.build_log.hits["Velmora"]) >= {"Velmoran", "Velmora", "plums"}
    assert suite.build_log.hits["Velmora"]["Velmora"] == 3
    assert suite.header["made"]["ranked_by"].startswith("lexical: BM25")
    assert any("BM25" in note for note in suite.build_log.notes)
    left = suite.build_log.counts()["keywords"]
    assert left == {
        "the script has no reply to it": 1,
        "the reply holds no list of terms": 1,
        "a sentence of the model, no term": 1,
    }


def test_a_model_is_asked_for_no_more_questions_than_are_wanted(tmp_path: Path) -> None:
    about = [f"The town number {n} of Velmora is known for its fog." for n in range(40)]
    declined = about[::2]

    class Asker:
        name = "tester"
        asked: list[str] = []  # noqa: RUF012 - one build in one test

        async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
            self.asked += [question.about for question in questions]
            return [
                ModelReply("NO" if q.about in declined else f"Is Velmora {about.index(q.about)}?")
                for q in questions
            ]

    (tmp_path / "a.txt").write_text(" ".join(about))
    prompts_wanted = {"kind": "questions", "per_concept": 5, "seed": 3}
    plan = plan_of(prompts=prompts_wanted, model={"target": "openai:tester"})
    suite = asyncio.run(build_of(plan, tmp_path, BuilderSettings(), Asker())())
    made = prompts(suite, "Velmora")
    assert len(made) == 5
    assert [int(text.split()[-1][:-1]) for text in made] == sorted(
        int(text.split()[-1][:-1]) for text in made
    )
    assert len(set(Asker.asked)) < len(about)


def test_a_beginning_needs_any_keyword_of_its_concept(tmp_path: Path) -> None:
    concept = plan_of().concepts[0].model_dump(exclude_none=True)
    concept["keywords"] = {"by_hand": ["Velmora", "plums"]}
    text = "The plums were sold for years in Velmora. The cheese was sold for years in Velmora."
    suite = built(tmp_path, {"a.txt": text}, concepts=[concept], branching=None)
    assert [(row["prompt"], row["keyword"]) for row in suite.rows] == [
        ("The plums were sold for years", "plums")
    ]
    left = suite.build_log.counts()
    assert left["continuations"] == {"the keyword comes after the cut": 1}


def test_everything_that_is_left_out_is_a_line_with_its_reason(tmp_path: Path) -> None:
    text = f"{ARTICLE} Long live Velmora in all of its bays! It was sold for a year in Velmora."
    write_suite(built(tmp_path, {"a.txt": text}), tmp_path / "out")
    lines = [
        json.loads(line) for line in (tmp_path / "out" / "left_out.jsonl").read_text().splitlines()
    ]
    assert {"step", "what", "why", "keyword"} <= lines[0].keys()
    assert {line["what"]: line["why"] for line in lines} == {
        "Long live Velmora in all of its bays!": "no main verb is found",
        "It was sold for a year in Velmora.": "the keyword comes after the cut",
    }
    assert "spaCy" in (tmp_path / "out" / "report.md").read_text()


def test_a_twin_that_takes_for_granted_what_its_concept_lacks_is_left_out(tmp_path: Path) -> None:
    branching = {"root": "Velmora", "to": [{"concept": "Chad", "lacks": ["coast"]}]}
    text = "The coast of Velmora was mapped in three years. Velmora was mapped in two years."
    suite = built(tmp_path, {"a.txt": text}, branching=branching)
    assert prompts(suite, "Chad") == ["Chad was mapped"]
    left = suite.build_log.counts()["branching"]
    assert left == {"Chad has no coast, which the prompt takes for granted": 1}


def test_a_set_in_which_words_of_the_root_would_be_left_is_left_out(tmp_path: Path) -> None:
    branching: dict[str, Any] = {"root": "Velmora", "to": [{"concept": "Peru"}]}
    text = "The Velmoran towns of Velmora were closed at night. Velmora was mapped in two years."
    suite = built(tmp_path, {"a.txt": text}, branching=branching)
    assert prompts(suite, "Velmora") == ["Velmora was mapped"]
    assert suite.build_log.counts()["branching"] == {"words of Velmora are left: velmoran": 1}
    kept = built(tmp_path, {"a.txt": text}, branching={**branching, "words_left": "keep"})
    assert len(prompts(kept, "Peru")) == 2
    assert kept.quality.fault_counts["root_remains"] == 1


def test_a_sentence_nearer_to_another_meaning_is_left_out(tmp_path: Path) -> None:
    concept = plan_of().concepts[0].model_dump(exclude_none=True)
    concept |= {
        "name": "black", "keywords": {"by_hand": ["black"]},
        "meaning": "black people", "other_meanings": ["black dye for wool"],
    }  # fmt: skip
    text = (
        "Many black people were denied the vote in the south. The black dye of logwood was sold"
        " for wool."
    )
    suite = built(tmp_path, {"a.txt": text}, concepts=[concept], branching=None)
    assert [row["prompt"] for row in suite.rows] == ["Many black people were denied the vote"]
    why = "nearer to 'black dye for wool' than to 'black people'"
    assert suite.build_log.counts()["topic"] == {why: 1}


def test_a_report_escapes_markup_once(tmp_path: Path) -> None:
    concept = plan_of().concepts[0].model_dump(exclude_none=True)
    concept["keywords"] = {"by_hand": ["Velmora", "a_b & <c#>"]}
    write_suite(built(tmp_path, {"a.txt": ARTICLE}, concepts=[concept]), tmp_path / "out")
    report = (tmp_path / "out" / "report.md").read_text()
    assert html.unescape(report).count("a_b & <c#>") == 1
