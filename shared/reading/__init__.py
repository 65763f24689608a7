"""What an answer says: the option it chooses, yes or no, its reasoning; pure, for every service."""

from shared.reading.choices import choice_in
from shared.reading.objects import objects_in
from shared.reading.reasoning import reasoning_in, sentences_in
from shared.reading.unread import Unread
from shared.reading.yes_no import yes_or_no_in

__all__ = ["Unread", "choice_in", "objects_in", "reasoning_in", "sentences_in", "yes_or_no_in"]
