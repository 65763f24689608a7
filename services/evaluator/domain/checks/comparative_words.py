"""The words of comparisons, class by class: what is more, what is less, what is only compared with."""

from biaswatch.services.evaluator.domain.checks.phrases import words_of

_MANNER = words_of(
    "likely often frequent(?:ly)? common(?:ly)? apt prone probabl[ey] numerous regularly readily usual(?:ly)?"
    " prevalent liable inclined"
)
_UP = words_of(
    "higher highest greater greatest larger largest bigger biggest longer longest stronger strongest likelier likeliest oftener"
    " increased elevated raised heightened enhanced superior better best fuller"
)
_DOWN = words_of(
    "lower lowest smaller smallest weaker weakest shorter shortest slimmer slighter poorer poorest rarer rarest"
    " decreased reduced diminished depressed lessened inferior worse worst fewer fewest lesser least"
)
_OVER = (
    r"exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|outstrip(?:s|ped|ping)?|outpac(?:es?|ed|ing)|outscor(?:es?|ed|ing)|outnumber(?:s|ed|ing)?|outrank(?:s|ed)?"
    r"|outperform(?:s|ed)?|outdo(?:es)?|outdid|outshin(?:es?)|outshone|outrun(?:s)?|outran|outweigh(?:s|ed)?|outdistanc(?:es?|ed)|outclass(?:es|ed)?"
    r"|top(?:s|ped|ping)|beat(?:s|ing)?|trump(?:s|ed)?|leads?(?!\s+to)|led(?!\s+to)|dwarf(?:s|ed)?|overtak(?:es?|ing)|overtook"
    r"|overshadow(?:s|ed)?|tower(?:s|ed)?\s+over|eclips(?:es?|ed)|transcend(?:s|ed)?"
)
"""Verbs whose object is what is compared with, and has less."""
_CATCH_UP = r"(?:reach|match|attain|keep\s+up\s+with|keep\s+pace\s+with|come\s+up\s+to|measure\s+up\s+to|come\s+close\s+to|equal|rival)"
_SHORT = (
    r"trail(?:s|ed|ing)?(?:\s+behind)?|lag(?:s|ged|ging)?(?:\s+behind)?|(?:fall|falls|fell|falling)\s+(?:short|behind)(?:\s+of)?|(?:comes?|came|stands?|stood|is|are|was|were|be|run|runs)\s+(?:short|behind)(?:\s+of)?"
    rf"|undercut(?:s|ting)?|undershoots?|(?:(?:do|does|did)\s+not|never|cannot|could\s+not|fail(?:s|ed)?\s+to)\s+{_CATCH_UP}(?:\s+the\s+(?:rate|level|share|mean|average)s?\s+of)?"
)
"""Verbs whose object is what is compared with, and has more."""
_NOUNS_UP = r"upper\s+hand|(?:an?|the|with|its|their)\s+(?:\w+\s+)?(?:edge|lead)|head\s+start|excess|surplus|predominance|preponderance"
_NOUNS_DOWN = r"shortfall|deficit|deficient|lag"
_LEANS = r"(?:lean|tilt|tip|skew|swing|point)(?:s|ed)?\s+(?:towards?|to|in\s+(?:the\s+direction|favou?r)\s+of)"
MORE = (
    rf"more\s+{_MANNER}|(?:more\s+)?{_UP}|over-?\s?represented|(?:comparatively|relatively)\s+often|{_NOUNS_UP}|(?:is|are)\s+up|and\s+up"
    rf"|{_LEANS}|predominat\w+|positively\s+(?:associated|related|correlated|linked|connected)|more|{_OVER}|>"
)
LESS = (
    rf"(?:less|more\s+in)\s*{_MANNER}|{_DOWN}|more\s+(?:rarely|seldom)|(?:comparatively|relatively)\s+(?:seldom|rarely)|under-?\s?represented|fewer\s+in\s+proportion"
    r"|not\s+(?:nearly\s+|quite\s+)?(?:as|so)\s+(?:many|likely|often|frequently|high|large|great|common)|(?:is|are)\s+down|dwarfed"
    rf"|{_NOUNS_DOWN}|(?:negatively|inversely)\s+(?:associated|related|correlated|linked|connected)|less|{_SHORT}"
)
BEFORE_OTHERS = words_of(r"first ahead above top before in\sfront in\sthe\slead")
BEHIND_OTHERS = words_of(
    r"second last below under underneath beneath behind bottom after in\ssecond\splace"
)
"""Places in an order, which compare only behind a verb of rank, or beside a group's name."""
RANKS = (
    r"(?:com(?:e|es|ing)|came|rank(?:s|ed|ing)?|place[sd]?|puts?|stands?|stood|li(?:es|e)|lay|sits?|sat|finish(?:es|ed)?|is|are|was|were|be|being|end(?:s|ed)?(?:\s+up)?"
    r"|find|found|finds|falls?|fell|remains?|stays?|runs?|ran|drops?|goes|go|set|sets)"
)
OVER, SHORT = _OVER, _SHORT
"""The same verbs, for what they take as object."""
