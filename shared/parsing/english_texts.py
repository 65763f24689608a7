"""Detect texts that are clearly not English, by the common words of other languages.

A list of names or of adjectives has no common words at all, so their absence shows nothing: words
of another language have to be there in lower case (Su, Ana and Lo are names), and more of them
than of English. Words that are also English, and parts of names (de, van, la), do not count.
"""

import re

READ_CHARACTERS = 2000
"""The beginning that is read."""
LEAST_FOREIGN = 2
"""Different common words of other languages in a text that is not English."""
_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN_LETTER = re.compile(r"[\u0370-\u1cff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\ufeff\uff66-\uffdc]")
"""A letter of a script other than Latin."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words(
    """
    about all also although an and any are as at be because been but by can cannot could did do
    does for from had has have he her here his how i if in into is it its just me might more most
    must my no not of on one only or other our out over she should so some such than that the
    their them then there these they this those to too up us very was we were what when where
    which while who why will with would you your
    """
)
OTHERS = _words(
    """
    aan aber af als anche antes ao aos att au auch aucune auf aus aux av avec avez bardzo bei
    bir bitte blev bu ce cette com comme como cuando czy dans dass dei dein della delle dello
    desde det dette deze değil diese diesem diesen dieser dieses dispiace dit dla donde där
    een efter ein eine einem einen einer eines ella elle eller ellos er eres esa ese eso esta
    este esto está et eu foi für geen gerne gli grazie haben hai hanno har hasta het hun ich
    ihnen ihr ihre ihrem ihren ihrer ik ikke il ile ils inte isso ist için jag jak jeg jest
    kan kann keine kunnen können leider lo loro maar mais mas med meu mig mijn minha mit muy
    más naar nach nas ne nel nella nicht nie niet noch nos notre nous não nós obrigado och
    oder ook op oraz ou où para pas pela pelo perché pero peut peux pode por porque posso
    puede puedo puis può på quando que quello questa questo qui qué sans según sehr sei ses
    seu siamo sich sie sind się sobre som sono sont su sua sulla suo sur sus são sí también
    também tengo tiene tu tuo uit uma una und une uno usted uw veuillez você voor vos votre
    vous wenn werden wie wij wir wird wordt wurde zich zij zijn zu zum zur är çok è être über
    że
    """
)
"""German, French, Spanish, Italian, Dutch, Portuguese, Polish, Swedish, Danish and Turkish."""


NOT_ENGLISH = "not English"
"""The reason for no measurement."""
READ_ENGLISH = frozenset(
    {"hedging", "profanity", "readability", "refusal", "vader", "vader_shares"}
)
"""Extractors that count English words or phrases."""


def is_foreign(text: str) -> bool:
    """Return whether a text is clearly not English.

    >>> is_foreign("Das kann ich leider nicht."), is_foreign("Su Li, Lo Min, Jan van Dam")
    (True, False)
    """
    beginning = text[:READ_CHARACTERS]
    words = _WORD.findall(beginning)
    if not beginning.isascii():
        other_scripts = sum(_FOREIGN_LETTER.match(word) is not None for word in words)
        if 2 * other_scripts > len(words):
            return True
    foreign = len(OTHERS.intersection(words))
    english = len(ENGLISH.intersection(map(str.lower, words)))
    return foreign >= LEAST_FOREIGN and foreign > english
