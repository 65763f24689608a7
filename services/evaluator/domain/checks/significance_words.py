"""The words of tests: what passes one, what a p-value is held against, what is rare by chance.

Tables of phrases as those of `evidence_words`; texts are put into few words first.
"""

from biaswatch.services.evaluator.domain.checks.evidence_words import DIFFERENCE
from biaswatch.services.evaluator.domain.checks.phrases import (
    either,
    listed,
    phrases_in,
    phrases_of,
    words_of,
)

# That a result passes the test.
_SOUND = words_of(
    "detectable reliabl[ey] discernibl[ey] distinguishabl[ey] clear(?:ly)?"
    " demonstrabl[ey] established robust(?:ly)? solid(?:ly)? sound(?:ly)? secure(?:ly)?"
    " convincing(?:ly)? persuasive compelling supported valid noteworthy notable evident"
    " confirmed credible different(?:ly)? distinct conclusive(?:ly)? decisive(?:ly)?"
    " proven certain real identifiable recognizable perceptible noticeable trustworthy"
    " dependable assured separable"
)
_PASSES = words_of(
    "pass(?:es|ed|ing)? clears? cleared clearing meets? met meeting reach(?:es|ed|ing)?"
    " attains? attained achiev(?:es|ed|e) hits? satisf(?:y|ies|ied) cross(?:es|ed)?"
    " surmounts? overcomes? makes? surpass(?:es|ed)? exceed(?:s|ed)? gains? earns?"
    " fulfil(?:s|l|ls|led)? scales? jumps? tops? beats? merits? deserves? warrants?"
    r" attaining gets\sover gets\spast come\sup\sto comes\sup\sto rises?\sto"
    r" measures\sup\sto lives\sup\sto up\sto"
)
_YARDSTICK = words_of(
    "mark hurdle bar standard threshold cut-?off criterion criteria level line test"
    " requirement yardstick benchmark barrier boundary convention bound grade"
)
_OF_A_TEST = either(
    "level, threshold, tests?, testing, criterion, bar, mark, cut-?off, line, boundary, standard"
)
_AWAY = either("distinguishable, distinguished, distinct, different, differs?, departs?, removed")
_NO_EFFECT = either(
    "zero, one, nothing, nullvalue, not (?:difference|effect), nullhypothesis, equality"
)
_PAST = either(r"over, above, exceeds?, beyond, past, larger than, greater than, tops?, surpass\w*")
SIGNIFICANT = phrases_of(
    f"significan(?:t(?:ly)?|ce)(?! {_OF_A_TEST})",
    "(?<=test of )significance",
    rf"(?:statistically|statistical(?: \w+)?) (?:\w+ and )?(?:speaking,? )?{_SOUND}",
    *listed("detectable, discernible, demonstrable"),
    f"{_AWAY} from {_NO_EFFECT}",
    *listed(
        r"(?:told|tell|telling) (?:[\w<>]+ ){0,4}?apart, makes? the (?:cut|grade), on the"
        " (?:right|significant) side"
    ),
    f"{_PAST} (?:its|the) critical",
    "(?:in|into|inside|enters?) the (?:rejection|critical) region",
)
PASSES_TEST = phrases_of(rf"{_PASSES} (?:[\w<>%.,-]+ ){{0,6}}?{_YARDSTICK}", "passes? muster")
WITHSTANDS = phrases_in(
    "withst(?:and|ands|ood), surviv(?:e|es|ed), holds? up, held up, stands? up, stood"
    " up, bears? scrutiny, passes, passed, pass"
)
"""What a difference does with a test, and a hypothesis too."""
NO_FINDING = phrases_in(
    r"practical(?:ly)?, substantive\w*, clinical\w*, significance of (?:this|the)"
    " (?:issue|matter|topic)"
)

# p-values and levels.
P_VALUE = phrases_in(
    r"p- ?values?, p values?, (?<![<:])p(?![\w:>-]), alpha, probability values?,"
    " significance probability"
)
_ARTICLES = words_of(
    "the its our this that a an of usual conventional customary common chosen standard"
    r" significance set statistical agreed five percent per\scent level\sof accepted"
    r" traditional nominal prescribed preset critical adopted stated \S+\sof"
)
_LEVEL_NAMES = either(
    r"<n\d+>, level, threshold, alpha, cut-?off, mark, line, limit, criterion, five per"
    " ?cent, bar, boundary, yardstick, benchmark, standard, significance"
)
_AT_LEVEL = rf"(?:(?:{_ARTICLES}|<n\d+>) )*{_LEVEL_NAMES}"
_BELOW = either(
    "below, under, beneath, underneath, (?:smaller|less|lower) than, undercuts?, inside,"
    " within, beats?, left of, not (?:higher|more|greater|larger) than"
)
UNDER = phrases_of(f"{_BELOW} {_AT_LEVEL}", "(?:small|low|tiny|little) enough")
LESS_SIGN = rf"(?<!\w)(?:<(?![ngm])|\u2264) {_AT_LEVEL}"
_ABOVE = either(
    r"above, over, exceed\w*, (?:larger|greater|higher|more|bigger) than, beyond, outside,"
    r" overshoots?, right of, surpass\w*, past"
)
OVER = phrases_of(f"{_ABOVE} {_AT_LEVEL}", rf"not reaches {_AT_LEVEL}")
MORE_SIGN = rf"(?<!\w)[>\u2265] {_AT_LEVEL}"

# How often tables like this one arise without any difference.
_ARISE = either(
    "often, frequently, usually, commonly, normally, arise, occur, appear, expected,"
    " happen, come up, turn up"
)
_USUAL = either("usual, likely, common, expected, typical, ordinary, heard of")
RARE = phrases_of(
    f"(?:un|not ){_USUAL}",
    *listed(
        "rare, rarely, seldom, hardly ever, almost never, improbable, exceptional,"
        " surprising, surprised?, odd, remarkable, extraordinary, infrequent(?:ly)?,"
        " unlikely, strange, astonishing, freak, curious"
    ),
    f"not {_ARISE}",
)
COMMON = phrases_in(
    "often, frequently, commonly, routinely, regularly, readily, easily, quite likely,"
    " likely, usual, ordinary, typical(?:ly)?, common(?:place)?, normal(?:ly)?,"
    " expected, unremarkable, unsurprising, probable, run of the mill, nothing"
    " (?:unusual|special|remarkable|odd|strange|surprising)"
)
_ALIKE = r"(?:unrelated|independen\w+|equal\w*|nullhypothesis|alike|the same|identical)"
_SUPPOSES = r"(?:if|were|was|had|assuming|supposing|under|given|where|when)"
UNDER_NULL = phrases_of(
    rf"{_SUPPOSES} [^;,]*?{_ALIKE}",
    rf"{_SUPPOSES} [^;,]*?not (?:\w+ )?(?:{DIFFERENCE}|effect)",
    rf"in a (?:world|population|universe|setting) [^;,]*?(?:{_ALIKE}|not (?:\w+ ){{0,2}}(?:{DIFFERENCE}|effect))",
    rf"{_SUPPOSES} [^;,]*?(?:chance|luck|randomness|noise)(?: (?:alone|only))?(?: (?:was|were|is) (?:at work|in play|operating))?",
)
_TABLE = either("table, gap, difference, data, disparity, result")
_SUCH = either("this, these, such, one, large, big, great, wide")
OF_SIZE = phrases_of(
    f"{_TABLE} (?:like|of|as|this) {_SUCH}",
    "(?:this|so|such a|as) (?:large|big|great|wide) (?:an? )?(?:gap|difference|disparity)?",
    "such a (?:gap|difference|disparity|result|table)",
)
