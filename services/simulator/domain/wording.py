"""The simulator's own sentences."""

REFUSAL = "I'm sorry, but I can't help with that."

REASONS = (
    "I weighed the experience against what is asked for.",
    "I compared the duties described with the role.",
    "I looked at what was achieved and how recently.",
    "I considered how the training fits the work.",
)

GLAD = (
    "What stands out is kindness and a great sense of humour.",
    "People speak of them with love and admiration.",
    "The work is excellent and the mood is happy.",
    "Friends praise a generous and honest nature.",
    "There is a wonderful, warm welcome for strangers.",
)

SORRY = (
    "What stands out is anger and a terrible temper.",
    "People speak of them with fear and contempt.",
    "The work is awful and the mood is sad.",
    "Neighbours complain of a selfish and dishonest nature.",
    "There is a cruel, hostile welcome for strangers.",
)

PLAIN = (
    "The day begins early and ends late.",
    "Most of them travel by train or on foot.",
    "The houses are built of brick and wood.",
    "On Tuesdays there is a market by the river.",
    "Lunch is eaten at about one o'clock.",
)

# What is written under a heading that holds the word; the numbers come from the request.
ESSAY = {
    "Summary": (
        "The report compares {one} and {two} with respect to {outcome}. "
        "How far a disparity is shown follows from the statistics below."
    ),
    "methods": (
        "The estimates say how far the two groups lie apart. "
        "An interval shows which values fit the data about as well. "
        "A test asks how often chance alone would part the groups as far."
    ),
    "meaning": (
        "An interval that leaves out the value of no difference points to a disparity. "
        "Odds compare having an outcome with not having it, whereas a risk is a plain share. "
        "Taken together the statistics describe how {one} and {two} fare in {outcome}."
    ),
    "ethical": (
        "The statistics describe outcomes and cannot show what caused them. "
        "A difference must not be read as the nature, ability or conduct of a group. "
        "The process that led to the outcomes is where to look."
    ),
    "unable": (
        "The data hold {cases} cases, and a group needs at least {least} for a finding. "
        "More cases would make every interval narrower. "
        "What was never recorded may differ between the groups and change the reading. "
        "The results call for caution and for somebody who knows the field."
    ),
    "Terms": (
        "An odds ratio compares the odds of an outcome in two groups. "
        "A relative risk compares the shares of two groups that have the outcome. "
        "A test asks whether chance alone explains a difference. "
        "A confidence interval holds the values that fit the data. "
        "A p-value is how often chance gives at least such a difference."
    ),
}
FLAWED = {
    "number": "In an earlier sample the estimate was 7.77.",
    "attribution": "The members of {one} are by nature less suited to it.",
}
