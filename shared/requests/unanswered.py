"""Why prompts of a run have no answer, in sentences that are each shown once."""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from biaswatch.shared.contracts import Ending, Response
from biaswatch.shared.foreign_text import on_one_line

MAX_LINES = 5
"""Reasons that are shown of one run, the most frequent first."""
MAX_WORDS_CHARACTERS = 500
PROVIDER_ERRORS = "provider_errors"
STOPPED = {
    "budget_spent": "Its budget is spent. The same command with a larger one goes on from here.",
    "usage_unknown": "A provider does not say how many tokens it used, so a budget of tokens cannot"
    " be kept. Without --token-budget the same command goes on from here.",
    "no_price": "A price is not known, so a budget in money cannot be kept. Put it into the file"
    " that BIASWATCH_PRICES_FILE names; the same command goes on from here.",
    PROVIDER_ERRORS: "It was stopped early, as the provider rejected all of its first calls.",
}
"""Why a run was stopped, where no person cancelled it."""


class UnansweredReason(BaseModel):
    """Prompts of one target that have no answer for the same reason."""

    target: str
    reason: str
    prompts: int
    words: str
    """The sentence of the most frequent case: what the provider or the model said."""

    def in_words(self) -> str:
        """Return it as sentences."""
        noun = "prompt" if self.prompts == 1 else "prompts"
        reason = self.reason.replace("_", " ")
        return f"{self.target} gave no answer to {self.prompts:,} {noun} ({reason}). {self.words}"


def unanswered_reasons(
    counted: Iterable[tuple[Response, int]], targets: Mapping[str, str]
) -> list[UnansweredReason]:
    """Return reasons by target, the most frequent first.

    Parameters
    ----------
    counted
        Responses without an answer, with the number of prompts that have the same one.
    targets
        The names of targets by lane.
    """
    merged: dict[tuple[str, str], UnansweredReason] = {}
    for response, prompts in counted:
        target = targets.get(response.lane, response.lane)
        key = (target, response.reason or "")
        if known := merged.get(key):
            known.prompts += prompts
            continue
        words = on_one_line((response.detail or "")[:MAX_WORDS_CHARACTERS]).strip()
        if response.ending is Ending.REFUSED and response.reason == "refusal":
            words = f'It said: "{words}"'
        merged[key] = UnansweredReason(target=target, reason=key[1], prompts=prompts, words=words)
    return sorted(merged.values(), key=lambda reason: -reason.prompts)[:MAX_LINES]


class RunOutcomes(BaseModel):
    """How many prompts of a run have an outcome, and why others have none."""

    probes: int
    responses: int
    stopped_by: str | None = None
    """Why it was stopped early, if it was not cancelled by a person."""
    stop_detail: str | None = None
    """The provider's words, if the run was stopped because of them."""
    unanswered: list[UnansweredReason] = []
    """Why prompts have no answer; filled for a single run that has ended."""

    def problems(self) -> list[str]:
        """Return why it was stopped and why prompts have no answer, each said once."""
        stop = STOPPED.get(self.stopped_by or "")
        if stop and self.stopped_by == PROVIDER_ERRORS:
            words = on_one_line((self.stop_detail or "")[:MAX_WORDS_CHARACTERS])
            stop = " ".join(filter(None, [stop, words, self._without_outcome()]))
        reasons = [reason for reason in self.unanswered if reason.words != self.stop_detail]
        return [*filter(None, [stop]), *(reason.in_words() for reason in reasons)]

    def _without_outcome(self) -> str:
        return (
            f"{self.probes - self.responses:,} of {self.probes:,} prompts were not asked, or were"
            " rejected. Correct the cause, and the same command asks them."
        )
