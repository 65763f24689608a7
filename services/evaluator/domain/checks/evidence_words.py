"""The words of evidence, class by class: what is tested, what speaks for it, what against it.

Texts are put into few words first (`plain_negation`). A table holds the words of one meaning, as
wide as English is; `evidence_claims` says what any of one with any of another amounts to.
"""

from biaswatch.services.evaluator.domain.checks.phrases import (
    any_of,
    either,
    listed,
    phrases_in,
    phrases_of,
    words_of,
)
from biaswatch.services.evaluator.domain.checks.plain_negation import LUCK

# What is spoken of.
DIFFERENCE = any_of(
    *listed(
        "differences?, disparit(?:y|ies), gap, associations?, associated, links?, linked,"
        r" relationships?, related, connection, connected, correlat\w+, dependen\w+,"
        " depends?, inequalit(?:y|ies), inequality, imbalance,"
        r" differ(?:s|ed|ing|ent|ently)?, unequal, diverge\w*, apart, contrast,"
        " discrepanc(?:y|ies), divide, departure, heterogeneity, unlike, advantage,"
        " disadvantage"
    )
)
_TO_CHANCE = either(
    "by, through, via, to, than, from, beyond, with, mere, mer, pure, sheer, alone, out,"
    " simple, of, than just, for, on, as, against"
)
_CHANCE_DOES = either(
    "alone, variation, explanation, finding, fluctuation, result, event, occurrence,"
    " remains?, could, can, may, might, would, is (?:an?|not|likely|enough|sufficient),"
    " does, as an?, explains?, accounts?, has, had, played, plays, was, suffices, by itself,"
    " on its own"
)
CHANCE = phrases_of(
    LUCK,
    f"{_TO_CHANCE} chance(?! (?:of|to|for|that))",
    f"chance {_CHANCE_DOES}",
    "more than chance",
)
_EQUAL_THINGS = either(
    "rates?, odds, chances?, risks?, treatment, shares, means, proportions, probabilities"
)
_JUDGED = either("rejected, retained, tenable, compatible, plausible")
_THE_SAME = either("equal(?! to), alike, the same, identical, independent")
_ANY_DIFFERENCE = either("difference, disparity, gap, association, effect, link, relationship")
_SOME_DIFFERENCE = either("association, difference, effect, relationship, disparity, gap, link")
NULL = phrases_of(
    *listed("nullhypothesis, unrelated, independence, equality"),
    f"(?<!than )equal {_EQUAL_THINGS}",
    rf"not {_SOME_DIFFERENCE}(?= (?:is|was|remains) (?:\w+ )?{_JUDGED})",
    rf"not (?:\w+ )?{_ANY_DIFFERENCE} (?:at all |whatsoever )?(?:between|in the population|in truth)",
    rf"(?:the )?not of (?:any |an? )?(?:\w+ )?{_ANY_DIFFERENCE}",
    f"(?:are|were|is|being|be) (?:really |truly |in truth |in fact )?{_THE_SAME}",
)
"""The state of no difference, as a hypothesis or a fact."""
NULL_FINDING = phrases_in(
    r"null (?:result|finding), came back negative, n\. ?s\., on the wrong side"
)
"""A result that shows nothing."""

# What speaks against a hypothesis, or for it.
AGAINST = phrases_in(
    r"reject\w*, refut\w*, rebut\w*, discard\w*, abandon\w*, drop(?:s|ped)?,"
    r" overturn\w*, overthrow\w*, contradict\w*, against, disprov\w*, discredit\w*,"
    r" dismiss\w*, undermin\w*, falsif\w*, defeat\w*, toppl\w*, exclud\w*, eliminat\w*,"
    r" disput\w*, challeng\w*, impugn\w*, conflict\w*, clash\w*, rul(?:e|es|ed|ing) out,"
    r" throw\w* out, doubts?, doubtful, given? up, giving up, set(?:s|ting)? aside, cast"
    " (?:aside|off|out), struck down, turned down, turns down, let go, count(?:s|ed)?"
    r" out, strain\w*, run counter, runs counter, counter to, jar(?:s|red)?, part with,"
    " retire, goes(?! un), falls, collapses?, crumbles?, gives way, breaks down,"
    " lose(?:s)? out"
)
FOR = phrases_in(
    r"retain\w*, kept, keeps?, accept\w*, surviv\w*, tenable, stands?, stood, standing,"
    r" holds?, held, compatible, consistent, maintain\w*, sustain\w*, plausible,"
    r" possible, credible, believable, withstand\w*, withstood, resist\w*, upheld,"
    r" upholds?, fits?, fitting, reconcil\w*, viable, acceptable, defensible,"
    " conceivable, open, unrefuted, unrejected, unshaken, untouched, intact, unscathed,"
    " in (?:line|keeping|agreement|accord|harmony|tune) with, agrees? with, accords?"
    r" with, squares?, squared, sits? (?:\w+ )?with, stays?, remains?, in place, in the"
    r" running, on the table, likely, reasonable, go(?:es)? (?:\w+ )?with, tall(?:y|ies)"
    r" with, chimes? with, consonant, coexist, live with, liv(?:e|es) (?:\w+ )?with,"
    r" believ\w+, assum\w+, concede, adopt\w*"
)
EXPLAINED = phrases_of(
    DIFFERENCE,
    *listed(
        "results?, findings?, data, pattern, table, effects?, size, excess, shortfall, it,"
        " this, that, what, outcome, observed, observation, evidence, alone, here, at work,"
        r" behind, ruled out, role, explanation, explain\w*, accounts?, account"
    ),
)
"""What luck may be said to explain, or not: a mere mention of luck claims nothing."""
_LARGER = either(
    "more, larger, bigger, greater, wider, stronger, higher, further, farther, other,"
    " steeper, starker, too (?:large|big|great|wide|strong)"
)
_RULES_OUT = either(
    "exclud, dismiss, discount, reject, eliminat, refut, discard, preclud, overcome, defy,"
    " defi, belie, contradict"
)
_LUCK_NAMES = either(r"chance, luck, noise, random\w*, sampling, flukes?, accident, coincidence")
BEYOND = phrases_of(
    rf"{_LARGER} (?:[\w<>]+ ){{0,6}}?than",
    *listed(
        r"larger, beyond, exceed\w*, outside, above, surpass\w*, over and above, in excess"
        " of, rul(?:e|es|ed|ing) out"
    ),
    rf"{_RULES_OUT}\w*",
    *listed("against, instead of, distinct from, different from, differs? from, apart from"),
    rf"(?:rather than|over) (?:\w+ ){{0,3}}?{_LUCK_NAMES}",
    r"distinguish\w*",
    r"(?:told|tell|telling) (?:[\w<>]+ ){0,4}?(?:apart from|apart|from)",
    *listed(
        r"separat\w+ from, set apart, stands? out, rises? (?:clear|above), emerges? from,"
        " clear of, immune"
    ),
)
"""That something is more than luck."""

# What is said to be found.
_FINDS = words_of(
    r"shows? showed shown showing demonstrat\w+ establish\w* reveals? revealed"
    " detect(?:s|ed|ing)? support(?:s|ed|ing)? proves? proven proved proving"
    r" confirm(?:s|ed|ing)? indicates? indicated bears?\sout borne\sout"
    " signal(?:s|led|ling)? flag(?:s|ged)? finds? found finding uncover(?:s|ed|ing)?"
    r" pick(?:s|ed|ing)?\sup registers? registered identif(?:y|ies|ied|ying)"
    r" substantiat\w+ corroborat\w+ document(?:s|ed)? warrants? justif(?:y|ies|ied)"
    r" vouch(?:es)?\sfor conclud\w+ infer\w* assert\w* declar\w+ discern\w*"
    r" verif(?:y|ies|ied) affirm\w* secur\w+ resolv\w+ expos\w+ disclos\w+ discover\w*"
    r" see sees making\sout make\sout pin\sdown turns?\sup"
)
_STRONG = words_of(
    r"demonstrat\w+ establish\w* prov(?:es?|en|ed|ing) confirm\w* conclud\w+ infer\w*"
    r" detect\w* substantiat\w+ corroborat\w+ verif\w+ warrants? justif\w+"
    r" support(?:s|ed)? discern\w* affirm\w* uncover\w* declar\w+ signal\w* flag\w*"
    r" pick\w*\sup identif\w+"
)
_WORDS_BETWEEN = r"(?:(?!<g|not\b|if\b|whether\b|chance\b)[\w<>:'-]+ )"
_KNOWN = either(
    "shown, established, proven, clear, certain, evident, safe to say, safe to conclude"
)
_CONFIDENT = either(
    "be (?:sure|certain|confident), confident, confidently, safely, conclusion, verdict, inference"
)
_SAY = either("say, claim, state, argue, speak of, maintain, assert, declare, conclude, insist")
FINDS = phrases_of(
    rf"{_FINDS} (?:that )?(?:{_WORDS_BETWEEN}|<g[01]> and |<g[01]> ){{0,9}}?{DIFFERENCE}(?! of <n)",
    rf"{DIFFERENCE}(?: (?!not\b)[\w<>:-]+){{0,6}}? (?:is|was|are|were|been|be|being) (?:not )?(?:\w+ly )?{_FINDS}",
    "shown to (?:depend|differ|be (?:related|linked|associated|real))",
    rf"{_KNOWN} that (?:[\w<>:-]+ ){{0,7}}?{DIFFERENCE}",
    rf"{_CONFIDENT} (?:\w+ )?(?:that|say|saying|conclude|of|for) (?:(?!whether\b)[\w<>:-]+ ){{0,8}}?{DIFFERENCE}",
    rf"{_SAY}(?: that)? (?:(?!not\b|whether\b)[\w<>:-]+ ){{0,7}}?{DIFFERENCE}",
)
STRONG = phrases_of(
    _STRONG,
    *listed(
        "shown, safe, certain, confident, conclusion, verdict, inference, evident, can (?:be )?say"
    ),
)
DESCRIPTIVE = phrases_in(
    "tables?, figures?, sample, counts?, numbers?, rates?, shares?, observed, raw,"
    " crude, chart, plot, percentages?, proportions?, means, averages?"
)
"""What merely describes: a table that shows a gap claims no evidence of it."""
_IN_EVIDENCE = words_of(
    "of for that to from against in on about pointing favouring favoring suggesting supporting"
)
_EVIDENCE_NAMES = either(
    "evidence, proofs?, indications?, support, signals?, hints?, (?<!the )signs?, case(?="
    " for| against), warrant, traces?"
)
_OF_WHAT_NOT = either(
    r"absence, discriminat\w*, bias\w*, cause, causation, effects?, prejudice, racis\w+,"
    r" sexis\w+, unfair\w*"
)
_REASON = either("reason, grounds?, basis, licen[cs]e, warrant, justification, cause")
_BELIEVE = either(
    r"believ\w+, think\w*, conclud\w+, suppos\w+, infer\w*, claim\w*, say\w*, suspect\w*,"
    r" assum\w*"
)
EVIDENCE = phrases_of(
    f"{_EVIDENCE_NAMES}(?= {_IN_EVIDENCE})"
    rf"(?! \w+ (?:\w+ ){{0,2}}{_OF_WHAT_NOT})",
    *listed("evidence (?:was|is|has|exists|were|suffices?|allows?|permits?), counts? as evidence"),
    f"{_REASON} (?:to|for) {_BELIEVE}[^;]*?(?:{DIFFERENCE}|real)",
)
_THE_DIFFERENCE = either("differences?, gap, disparity, association, link, effect, contrast")
_IS = either("is, was, appears? to be, seems? to be, may be, must be, to be, as, proves? to be")
_TRUE = either(
    "real, genuine, reliable, trustworthy, robust, solid, convincing, conclusive, credible"
)
_A_TRUE = either(
    "real, genuine, reliable, robust, true, conclusive, convincing, credible, trustworthy"
)
_A_DIFFERENCE = either("difference, gap, disparity, association, link, signal, effect")
REAL = phrases_of(
    rf"{_THE_DIFFERENCE} {_IS} (?:not )?(?:\w+ )?{_TRUE}", f"{_A_TRUE} {_A_DIFFERENCE}"
)

# What leaves a question open.
_OPEN = any_of(
    *listed(
        "open, undecided, unresolved, unproven, unsettled, unanswered, uncertain, unclear,"
        " unknown, undetermined, up in the air, moot, in doubt, inconclusive, in the"
        " balance, anybody's guess, anyone's guess, unsure"
    )
)
OPEN = phrases_of(
    *listed(
        r"jury is (?:still )?out, inconclusive\w*, indecisive, undecided, unresolved,"
        " unproven, ambiguous, equivocal, not (?:a"
        " )?(?:verdict|conclusive|decisive|clear-cut)"
    ),
    rf"question[^;]*{_OPEN}|open question",
    rf"whether[^;]*(?:{DIFFERENCE}|real|chance)[^;]*{_OPEN}",
    rf"{_OPEN} (?:as to )?whether[^;]*(?:{DIFFERENCE}|real|chance)",
)
_TELL = words_of(
    "tell told say said know known decide decided determine determined settle settled"
    " establish established conclude concluded judge judged answer answered resolve"
    " resolved ascertain ascertained"
)
UNTOLD = phrases_of(
    rf"whether[^;]*(?:{DIFFERENCE}|real|ahead)[^;]*not (?:\w+ ){{0,2}}{_TELL}",
    rf"not (?:\w+ ){{0,3}}{_TELL}[^;]*(?:whether|if|that)[^;]*(?:{DIFFERENCE}|real)",
)

# Guards.
CAUSES = phrases_in(
    r"caus\w+, simpson\w*, paradox\w*, revers\w+, what, who, how, which, discriminat\w*,"
    r" prejudice\w*, bias\w*, why, racis\w+, sexis\w+, unfair\w*, explanation among,"
    r" missing, strat\w+, within, direction"
)
"""What is shown of causes and strata is read elsewhere."""
_ASKS = either(r"asks?, tests?, assess\w*, tell\w* us, checks?, examin\w+, decid\w+")
GENERAL = phrases_of(
    *listed(
        "(?<!with )(?:a|any) p-? ?value(?! of), would (?:be|count|mean|indicate|have)(?!"
        " not), has to be read, practical(?:ly)?, substantive,"
        r" if(?=[^;]*(?<!\w)(?:would|were|is|contain|made|had)(?!\w))"
    ),
    f"{_ASKS} whether",
    r"significance (?:\w+ )?(?:says|tells|means|speaks|is (?:no|not) (?:a )?(?:size|measure))",
    *listed("conventionally called, in general"),
)
SUPPOSED = phrases_in("if, when, suppose, assuming, were, had, whether, in general")
"""What a clause opens with that supposes something."""
