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
