"""The words of evidence, class by class: what is tested, what speaks for it, what against it.

Texts are put into few words first (`plain_negation`). A table holds the words of one meaning, as
wide as English is; `evidence_claims` says what any of one with any of another amounts to.
"""

from services.evaluator.domain.checks.phrases import any_of, phrases_of, words_of
from services.evaluator.domain.checks.plain_negation import LUCK

# What is spoken of.
DIFFERENCE = any_of(
    r"differences?|disparit(?:y|ies)|gap|associations?|associated|links?|linked|relationships?|related"
    r"|connection|connected|correlat\w+|dependen\w+|depends?|inequalit(?:y|ies)|inequality|imbalance"
    r"|differ(?:s|ed|ing|ent|ently)?|unequal|diverge\w*|apart|contrast|discrepanc(?:y|ies)|divide|departure"
    r"|heterogeneity|unlike|advantage|disadvantage"
)
CHANCE = phrases_of(
    LUCK,
    r"(?:by|through|via|to|than|from|beyond|with|mere|mer|pure|sheer|alone|out|simple|of|than just|for|on|as|against)"
    r" chance(?! (?:of|to|for|that))",
    r"chance (?:alone|variation|explanation|finding|fluctuation|result|event|occurrence|remains?|could|can|may|might|would"
    r"|is (?:an?|not|likely|enough|sufficient)|does|as an?|explains?|accounts?|has|had|played|plays|was|suffices|by itself|on its own)",
    "more than chance",
)
NULL = phrases_of(
    "nullhypothesis|unrelated|independence|equality",
    "(?<!than )equal (?:rates?|odds|chances?|risks?|treatment|shares|means|proportions|probabilities)",
    "not (?:association|difference|effect|relationship|disparity|gap|link)(?= (?:is|was|remains) (?:\\w+ )?(?:rejected|retained|tenable|compatible|plausible))",
    r"not (?:\w+ )?(?:difference|disparity|gap|association|effect|link|relationship) (?:at all |whatsoever )?(?:between|in the population|in truth)",
    r"(?:the )?not of (?:any |an? )?(?:\w+ )?(?:difference|disparity|gap|association|effect|link|relationship)",
    r"(?:are|were|is|being|be) (?:really |truly |in truth |in fact )?(?:equal(?! to)|alike|the same|identical|independent)",
)
"""The state of no difference, as a hypothesis or a fact."""
NULL_FINDING = phrases_of(
    "null (?:result|finding)", "came back negative|n\\. ?s\\.", "on the wrong side"
)
"""A result that shows nothing."""

# What speaks against a hypothesis, or for it.
AGAINST = phrases_of(
    r"reject\w*|refut\w*|rebut\w*|discard\w*|abandon\w*|drop(?:s|ped)?|overturn\w*|overthrow\w*|contradict\w*|against|disprov\w*"
    r"|discredit\w*|dismiss\w*|undermin\w*|falsif\w*|defeat\w*|toppl\w*|exclud\w*|eliminat\w*|disput\w*|challeng\w*|impugn\w*|conflict\w*|clash\w*",
    r"rul(?:e|es|ed|ing) out|throw\w* out|doubts?|doubtful|given? up|giving up|set(?:s|ting)? aside|cast (?:aside|off|out)|struck down|turned down|turns down|let go"
    r"|count(?:s|ed)? out|strain\w*|run counter|runs counter|counter to|jar(?:s|red)?|part with|retire",
    r"goes(?! un)|falls|collapses?|crumbles?|gives way|breaks down|lose(?:s)? out",
)
FOR = phrases_of(
    r"retain\w*|kept|keeps?|accept\w*|surviv\w*|tenable|stands?|stood|standing|holds?|held|compatible|consistent|maintain\w*|sustain\w*|plausible|possible|credible|believable"
    r"|withstand\w*|withstood|resist\w*|upheld|upholds?|fits?|fitting|reconcil\w*|viable|acceptable|defensible|conceivable|open|unrefuted|unrejected|unshaken|untouched|intact|unscathed",
    r"in (?:line|keeping|agreement|accord|harmony|tune) with|agrees? with|accords? with|squares?|squared|sits? (?:\w+ )?with|stays?|remains?|in place|in the running|on the table|likely|reasonable"
    r"|go(?:es)? (?:\w+ )?with|tall(?:y|ies) with|chimes? with|consonant|coexist|live with|liv(?:e|es) (?:\w+ )?with|believ\w+|assum\w+|concede|adopt\w*",
)
EXPLAINED = phrases_of(
    DIFFERENCE,
    r"results?|findings?|data|pattern|table|effects?|size|excess|shortfall|it|this|that|what|outcome|observed|observation|evidence|alone|here|at work|behind|ruled out|role|explanation|explain\w*|accounts?|account",
)
"""What luck may be said to explain, or not: a mere mention of luck claims nothing."""
BEYOND = phrases_of(
    r"(?:more|larger|bigger|greater|wider|stronger|higher|further|farther|other|steeper|starker|too (?:large|big|great|wide|strong)) (?:[\w<>]+ ){0,6}?than|larger|beyond|exceed\w*|outside|above|surpass\w*|over and above|in excess of",
    r"rul(?:e|es|ed|ing) out|(?:exclud|dismiss|discount|reject|eliminat|refut|discard|preclud|overcome|defy|defi|belie|contradict)\w*|against|instead of|distinct from|different from|differs? from|apart from",
    r"(?:rather than|over) (?:\w+ ){0,3}?(?:chance|luck|noise|random\w*|sampling|flukes?|accident|coincidence)",
    r"distinguish\w*|(?:told|tell|telling) (?:[\w<>]+ ){0,4}?(?:apart from|apart|from)|separat\w+ from|set apart|stands? out|rises? (?:clear|above)|emerges? from|clear of|immune",
)
"""That something is more than luck."""

# That a result passes the test.
_SOUND = words_of(
    r"detectable reliabl[ey] discernibl[ey] distinguishabl[ey] clear(?:ly)? demonstrabl[ey] established robust(?:ly)? solid(?:ly)? sound(?:ly)? secure(?:ly)? convincing(?:ly)? persuasive compelling"
    r" supported valid noteworthy notable evident confirmed credible different(?:ly)? distinct conclusive(?:ly)? decisive(?:ly)? proven certain real identifiable recognizable perceptible noticeable trustworthy dependable assured separable"
)
_PASSES = words_of(
    r"pass(?:es|ed|ing)? clears? cleared clearing meets? met meeting reach(?:es|ed|ing)? attains? attained achiev(?:es|ed|e) hits? satisf(?:y|ies|ied) cross(?:es|ed)? surmounts? overcomes? makes?"
    r" surpass(?:es|ed)? exceed(?:s|ed)? gains? earns? fulfil(?:s|l|ls|led)? scales? jumps? tops? beats? merits? deserves? warrants? attaining gets\sover gets\spast come\sup\sto comes\sup\sto rises?\sto measures\sup\sto lives\sup\sto up\sto"
)
YARDSTICK = words_of(
    r"mark hurdle bar standard threshold cut-?off criterion criteria level line test requirement yardstick benchmark barrier boundary convention bound grade"
)
SIGNIFICANT = phrases_of(
    r"significan(?:t(?:ly)?|ce)(?! (?:level|threshold|tests?|testing|criterion|bar|mark|cut-?off|line|boundary|standard))",
    r"(?<=test of )significance",
    rf"(?:statistically|statistical(?: \w+)?) (?:\w+ and )?(?:speaking,? )?{_SOUND}",
    "detectable|discernible|demonstrable",
    r"(?:distinguishable|distinguished|distinct|different|differs?|departs?|removed) from (?:zero|one|nothing|nullvalue|not (?:difference|effect)|nullhypothesis|equality)",
    r"(?:told|tell|telling) (?:[\w<>]+ ){0,4}?apart|makes? the (?:cut|grade)",
    r"on the (?:right|significant) side",
    r"(?:over|above|exceeds?|beyond|past|larger than|greater than|tops?|surpass\w*) (?:its|the) critical|(?:in|into|inside|enters?) the (?:rejection|critical) region",
)
PASSES_TEST = phrases_of(rf"{_PASSES} (?:[\w<>%.,-]+ ){{0,6}}?{YARDSTICK}", "passes? muster")
WITHSTANDS = phrases_of(
    r"withst(?:and|ands|ood)|surviv(?:e|es|ed)|holds? up|held up|stands? up|stood up|bears? scrutiny|passes|passed|pass"
)
"""What a difference does with a test, and a hypothesis too."""
NO_FINDING = phrases_of(
    r"practical(?:ly)?|substantive\w*|clinical\w*|significance of (?:this|the) (?:issue|matter|topic)"
)

# p-values and levels.
P_VALUE = phrases_of(
    r"p- ?values?|p values?|(?<![<:])p(?![\w:>-])|alpha|probability values?|significance probability"
)
_ARTICLES = words_of(
    r"the its our this that a an of usual conventional customary common chosen standard significance set statistical agreed five percent per\scent level\sof accepted traditional nominal prescribed preset critical adopted stated \S+\sof"
)
_AT_LEVEL = rf"(?:(?:{_ARTICLES}|<n\d+>) )*(?:<n\d+>|level|threshold|alpha|cut-?off|mark|line|limit|criterion|five per ?cent|bar|boundary|yardstick|benchmark|standard|significance)"
UNDER = phrases_of(
    rf"(?:below|under|beneath|underneath|(?:smaller|less|lower) than|undercuts?|inside|within|beats?|left of|not (?:higher|more|greater|larger) than) {_AT_LEVEL}",
    r"(?:small|low|tiny|little) enough",
)
LESS_SIGN = rf"(?<!\w)(?:<(?![ngm])|\u2264) {_AT_LEVEL}"
OVER = phrases_of(
    rf"(?:above|over|exceed\w*|(?:larger|greater|higher|more|bigger) than|beyond|outside|overshoots?|right of|surpass\w*|past) {_AT_LEVEL}",
    rf"not reaches {_AT_LEVEL}",
)
MORE_SIGN = rf"(?<!\w)[>\u2265] {_AT_LEVEL}"

# What is said to be found.
_FINDS = words_of(
    r"shows? showed shown showing demonstrat\w+ establish\w* reveals? revealed detect(?:s|ed|ing)? support(?:s|ed|ing)? proves? proven proved proving confirm(?:s|ed|ing)? indicates? indicated bears?\sout borne\sout"
    r" signal(?:s|led|ling)? flag(?:s|ged)? finds? found finding uncover(?:s|ed|ing)? pick(?:s|ed|ing)?\sup registers? registered identif(?:y|ies|ied|ying) substantiat\w+ corroborat\w+ document(?:s|ed)? warrants? justif(?:y|ies|ied) vouch(?:es)?\sfor"
    r" conclud\w+ infer\w* assert\w* declar\w+ discern\w* verif(?:y|ies|ied) affirm\w* secur\w+ resolv\w+ expos\w+ disclos\w+ discover\w* see sees making\sout make\sout pin\sdown turns?\sup"
)
_STRONG = words_of(
    r"demonstrat\w+ establish\w* prov(?:es?|en|ed|ing) confirm\w* conclud\w+ infer\w* detect\w* substantiat\w+ corroborat\w+ verif\w+ warrants? justif\w+ support(?:s|ed)? discern\w* affirm\w* uncover\w* declar\w+ signal\w* flag\w* pick\w*\sup identif\w+"
)
_WORDS_BETWEEN = r"(?:(?!<g|not\b|if\b|whether\b|chance\b)[\w<>:'-]+ )"
FINDS = phrases_of(
    rf"{_FINDS} (?:that )?(?:{_WORDS_BETWEEN}|<g[01]> and |<g[01]> ){{0,9}}?{DIFFERENCE}(?! of <n)",
    rf"{DIFFERENCE}(?: (?!not\b)[\w<>:-]+){{0,6}}? (?:is|was|are|were|been|be|being) (?:not )?(?:\w+ly )?{_FINDS}",
    r"shown to (?:depend|differ|be (?:related|linked|associated|real))",
    rf"(?:shown|established|proven|clear|certain|evident|safe to say|safe to conclude) that (?:[\w<>:-]+ ){{0,7}}?{DIFFERENCE}",
    rf"(?:be (?:sure|certain|confident)|confident|confidently|safely|conclusion|verdict|inference) (?:\w+ )?(?:that|say|saying|conclude|of|for) (?:(?!whether\b)[\w<>:-]+ ){{0,8}}?{DIFFERENCE}",
    rf"(?:say|claim|state|argue|speak of|maintain|assert|declare|conclude|insist)(?: that)? (?:(?!not\b|whether\b)[\w<>:-]+ ){{0,7}}?{DIFFERENCE}",
)
STRONG = phrases_of(
    _STRONG, "shown|safe|certain|confident|conclusion|verdict|inference|evident|can (?:be )?say"
)
DESCRIPTIVE = phrases_of(
    r"tables?|figures?|sample|counts?|numbers?|rates?|shares?|observed|raw|crude|chart|plot|percentages?|proportions?|means|averages?"
)
"""What merely describes: a table that shows a gap claims no evidence of it."""
_IN_EVIDENCE = words_of(
    r"of for that to from against in on about pointing favouring favoring suggesting supporting"
)
EVIDENCE = phrases_of(
    rf"(?:evidence|proofs?|indications?|support|signals?|hints?|(?<!the )signs?|case(?= for| against)|warrant|traces?)(?= {_IN_EVIDENCE})"
    r"(?! \w+ (?:\w+ ){0,2}(?:absence|discriminat\w*|bias\w*|cause|causation|effects?|prejudice|racis\w+|sexis\w+|unfair\w*))",
    r"evidence (?:was|is|has|exists|were|suffices?|allows?|permits?)",
    "counts? as evidence",
    rf"(?:reason|grounds?|basis|licen[cs]e|warrant|justification|cause) (?:to|for) (?:believ\w+|think\w*|conclud\w+|suppos\w+|infer\w*|claim\w*|say\w*|suspect\w*|assum\w*)[^;]*?(?:{DIFFERENCE}|real)",
)
REAL = phrases_of(
    r"(?:differences?|gap|disparity|association|link|effect|contrast) (?:is|was|appears? to be|seems? to be|may be|must be|to be|as|proves? to be) (?:not )?(?:\w+ )?(?:real|genuine|reliable|trustworthy|robust|solid|convincing|conclusive|credible)",
    "(?:real|genuine|reliable|robust|true|conclusive|convincing|credible|trustworthy) (?:difference|gap|disparity|association|link|signal|effect)",
)

# What leaves a question open.
_OPEN = any_of(
    "open|undecided|unresolved|unproven|unsettled|unanswered|uncertain|unclear|unknown|undetermined|up in the air|moot|in doubt|inconclusive|in the balance|anybody's guess|anyone's guess|unsure"
)
OPEN = phrases_of(
    r"jury is (?:still )?out|inconclusive\w*|indecisive|undecided|unresolved|unproven|ambiguous|equivocal|not (?:a )?(?:verdict|conclusive|decisive|clear-cut)",
    rf"question[^;]*{_OPEN}|open question",
    rf"whether[^;]*(?:{DIFFERENCE}|real|chance)[^;]*{_OPEN}",
    rf"{_OPEN} (?:as to )?whether[^;]*(?:{DIFFERENCE}|real|chance)",
)
_TELL = words_of(
    "tell told say said know known decide decided determine determined settle settled establish established conclude concluded judge judged answer answered resolve resolved ascertain ascertained"
)
UNTOLD = phrases_of(
    rf"whether[^;]*(?:{DIFFERENCE}|real|ahead)[^;]*not (?:\w+ ){{0,2}}{_TELL}",
    rf"not (?:\w+ ){{0,3}}{_TELL}[^;]*(?:whether|if|that)[^;]*(?:{DIFFERENCE}|real)",
)

# Guards.
CAUSES = phrases_of(
    r"caus\w+|simpson\w*|paradox\w*|revers\w+|what|who|how|which|discriminat\w*|prejudice\w*|bias\w*|why|racis\w+|sexis\w+|unfair\w*|explanation among|missing|strat\w+|within|direction"
)
"""What is shown of causes and strata is read elsewhere."""
GENERAL = phrases_of(
    r"(?<!with )(?:a|any) p-? ?value(?! of)|would (?:be|count|mean|indicate|have)(?! not)|has to be read|practical(?:ly)?|substantive",
    r"if(?=[^;]*(?<!\w)(?:would|were|is|contain|made|had)(?!\w))",
    r"(?:asks?|tests?|assess\w*|tell\w* us|checks?|examin\w+|decid\w+) whether",
    r"significance (?:\w+ )?(?:says|tells|means|speaks|is (?:no|not) (?:a )?(?:size|measure))|conventionally called|in general",
)
SUPPOSED = phrases_of("if|when|suppose|assuming|were|had|whether|in general")
"""What a clause opens with that supposes something."""

# How often tables like this one arise without any difference.
RARE = phrases_of(
    "(?:un|not )(?:usual|likely|common|expected|typical|ordinary|heard of)|rare|rarely|seldom|hardly ever|almost never|improbable|exceptional|surprising|surprised?|odd|remarkable|extraordinary|infrequent(?:ly)?|unlikely|strange|astonishing|freak|curious",
    "not (?:often|frequently|usually|commonly|normally|arise|occur|appear|expected|happen|come up|turn up)",
)
COMMON = phrases_of(
    "often|frequently|commonly|routinely|regularly|readily|easily|quite likely|likely|usual|ordinary|typical(?:ly)?|common(?:place)?|normal(?:ly)?|expected|unremarkable|unsurprising|probable|run of the mill|nothing (?:unusual|special|remarkable|odd|strange|surprising)"
)
_ALIKE = r"(?:unrelated|independen\w+|equal\w*|nullhypothesis|alike|the same|identical)"
_SUPPOSES = r"(?:if|were|was|had|assuming|supposing|under|given|where|when)"
UNDER_NULL = phrases_of(
    rf"{_SUPPOSES} [^;,]*?{_ALIKE}",
    rf"{_SUPPOSES} [^;,]*?not (?:\w+ )?(?:{DIFFERENCE}|effect)",
    rf"in a (?:world|population|universe|setting) [^;,]*?(?:{_ALIKE}|not (?:\w+ ){{0,2}}(?:{DIFFERENCE}|effect))",
    rf"{_SUPPOSES} [^;,]*?(?:chance|luck|randomness|noise)(?: (?:alone|only))?(?: (?:was|were|is) (?:at work|in play|operating))?",
)
OF_SIZE = phrases_of(
    "(?:table|gap|difference|data|disparity|result) (?:like|of|as|this) (?:this|these|such|one|large|big|great|wide)",
    "(?:this|so|such a|as) (?:large|big|great|wide) (?:an? )?(?:gap|difference|disparity)?|such a (?:gap|difference|disparity|result|table)",
)
