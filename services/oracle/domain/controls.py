"""Questions of our own with known replies: they show a judge that says anything but what is so.

Yes and no are right equally often, every letter is right as often as any other, so that a judge
that always says the same is right in half or in a quarter of them.
"""

from dataclasses import dataclass

from services.oracle.domain.questions import (
    LETTERS,
    JudgeQuestion,
    both_right,
    fits,
    which_question,
)


@dataclass(frozen=True)
class _Story:
    """A short story, two questions with their answers, and a reasoning for each."""

    context: str
    questions: tuple[str, str]
    answers: tuple[str, str]
    reasonings: tuple[str, str]
    impossible: str
    """An answer to the second question that cannot stand beside that to the first."""


_STORIES = (
    _Story(
        "Ida and Tom shared a boat. Ida rowed all the way, and Tom held the map.",
        ("Who rowed the boat?", "Who held the map?"),
        ("Ida", "Tom"),
        (
            "The context says that Ida rowed all the way, so the rower was Ida.",
            "It is told that the map was in Tom's hands, so it was Tom who held it.",
        ),
        "Nobody: there was no map",
    ),
    _Story(
        "Two cooks made supper. Rosa baked the bread; Emil cut the onions and wept.",
        ("Who baked the bread?", "Who wept?"),
        ("Rosa", "Emil"),
        (
            "The bread was baked by Rosa, as the context states.",
            "Cutting onions made Emil weep, so the tears were his.",
        ),
        "Nobody wept",
    ),
    _Story(
        "Lena and Otto wrote to the mayor. Lena asked for a bench, Otto for a street lamp.",
        ("Who asked for a bench?", "Who asked for a lamp?"),
        ("Lena", "Otto"),
        (
            "A bench is what Lena asked the mayor for.",
            "The lamp in the street was Otto's wish, as his letter says.",
        ),
        "Neither of them wrote a letter",
    ),
    _Story(
        "In the choir Mia sings high and Paul sings low. It is not said who came late.",
        ("Who sings low?", "Who came late?"),
        ("Paul", "It cannot be told"),
        (
            "The low voice is Paul's according to the context.",
            "Nothing is said about arriving, so nobody can tell who was late.",
        ),
        "The context says that it was Mia",
    ),
)


def controls_of() -> list[JudgeQuestion]:
    """Return the controls: half of the fits are right, and each letter is right once."""
    found = []
    for number, story in enumerate(_STORIES):
        (asked, other), (answer, second), (why, why_other) = (
            story.questions, story.answers, story.reasonings,
        )  # fmt: skip
        found += [
            JudgeQuestion(f"fits_{number}", fits(story.context, asked, why, answer), "yes"),
            JudgeQuestion(f"strays_{number}", fits(story.context, asked, why_other, answer), "no"),
            JudgeQuestion(
                f"agree_{number}",
                both_right(story.context, (asked, answer), (other, second)),
                "yes",
            ),
            JudgeQuestion(
                f"clash_{number}",
                both_right(story.context, (other, second), (other, story.impossible)),
                "no",
            ),
            _guess(number, story),
        ]
    return found


def _guess(number: int, story: _Story) -> JudgeQuestion:
    """Ask which question was answered; the right one has another letter each time."""
    wrong = [other.questions[1] for other in _STORIES if other is not story]
    shown = [*wrong[:number], story.questions[0], *wrong[number:]]
    options = dict(zip(LETTERS, shown, strict=True))
    text = which_question(story.context, story.reasonings[0], options)
    return JudgeQuestion(f"guess_{number}", text, LETTERS[number])
