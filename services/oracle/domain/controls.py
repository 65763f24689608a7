"""Questions of our own with known replies: they show a judge that says anything but what is so.

Yes and no are right equally often, every letter is right as often as any other, so that a judge
that always says the same is right in half or in a quarter of them. Some are asked twice: with a
reasoning that is padded with words that say nothing, and with the questions to choose from in the
opposite order.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from biaswatch.services.oracle.domain.questions import (
    LETTERS,
    JudgeQuestion,
    both_right,
    fits,
    which_question,
)

PADDED, TURNED = "padded_", "turned_"
"""How the names of copies begin."""
PADDING = (
    "So much was written down here, and it was written in this order. Whoever reads it reads one"
    " sentence after another, as one does. These sentences belong to the reasoning and add nothing"
    " to it, and after them it comes to its close."
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
        context, clashing = story.context, story.impossible
        (asked, other), (answer, second), (why, why_other) = (
            story.questions, story.answers, story.reasonings,
        )  # fmt: skip
        wrong = [each.questions[1] for each in _STORIES if each is not story]
        options = dict(zip(LETTERS, [*wrong[:number], asked, *wrong[number:]], strict=True))
        agree = both_right(context, (asked, answer), (other, second))
        clash = both_right(context, (other, second), (other, clashing))
        found += [
            JudgeQuestion(f"fits_{number}", fits(context, asked, why, answer), "yes"),
            JudgeQuestion(f"strays_{number}", fits(context, asked, why_other, answer), "no"),
            JudgeQuestion(f"agree_{number}", agree, "yes"),
            JudgeQuestion(f"clash_{number}", clash, "no"),
            JudgeQuestion(
                f"guess_{number}", which_question(context, why, options), LETTERS[number]
            ),
            *_copies(number, story, options),
        ]
    return found


def _copies(number: int, story: _Story, options: Mapping[str, str]) -> Iterator[JudgeQuestion]:
    context, asked, answer = story.context, story.questions[0], story.answers[0]
    why, why_other = (f"{each} {PADDING}" for each in story.reasonings)
    yield JudgeQuestion(f"{PADDED}fits_{number}", fits(context, asked, why, answer), "yes")
    yield JudgeQuestion(f"{PADDED}strays_{number}", fits(context, asked, why_other, answer), "no")
    turned = dict(zip(LETTERS, list(options.values())[::-1], strict=True))
    letter = {text: each for each, text in turned.items()}[asked]
    prompt = which_question(context, story.reasonings[0], turned)
    yield JudgeQuestion(f"{TURNED}guess_{number}", prompt, letter)
