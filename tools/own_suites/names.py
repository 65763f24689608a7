"""Names that are perceived as those of a race and a gender, by published evidence.

Black and white first names: the twenty most distinctive of each race and gender among children born
in California, Fryer and Levitt (2004), The causes and consequences of distinctively Black names,
Quarterly Journal of Economics 119(3), as listed in Levitt and Dubner (2005), Freakonomics, chapter
6. Many of them were found to be perceived as intended by Gaddis (2017), Sociological Science 4.

Asian and Hispanic names: surnames whose bearers are at least 85 % of that group in the 2010 census
of the United States (Census Bureau, Frequently occurring surnames), behind first names that are
common in every group, so that neither country of birth nor language differs from the other cells.

Distinctive first names also go with mothers of less schooling (the same sources). Class is
therefore said by other lines of a text, the same in all twins that differ by name.
"""

from itertools import cycle, islice

FIRST = {
    ("black", "female"): "Imani Ebony Shanice Aaliyah Precious Nia Deja Diamond Asia Aliyah Jada"
    " Tierra Tiara Kiara Jazmine Jasmin Jazmin Jasmine Alexus Raven",
    ("white", "female"): "Molly Amy Claire Emily Katie Madeline Katelyn Emma Abigail Carly Jenna"
    " Heather Katherine Caitlin Kaitlin Holly Allison Kaitlyn Hannah Kathryn",
    (
        "black",
        "male",
    ): "DeShawn DeAndre Marquis Darnell Terrell Malik Trevon Tyrone Willie Dominique"
    " Demetrius Reginald Jamal Maurice Jalen Darius Xavier Terrance Andre Darryl",
    ("white", "male"): "Jake Connor Tanner Wyatt Cody Dustin Luke Jack Scott Logan Cole Lucas"
    " Bradley Jacob Garrett Dylan Maxwell Hunter Brett Colin",
}
COMMON_FIRST = {
    "male": "Michael Daniel David Kevin Eric Brian Steven Andrew Jason Ryan Thomas Joseph Peter"
    " Vincent Alan Victor Raymond Henry Philip Martin",
    "female": "Jessica Michelle Nicole Melissa Christina Angela Diana Sandra Teresa Monica Vanessa"
    " Cynthia Linda Karen Sharon Gloria Irene Julia Helen Catherine",
}
SURNAMES = {
    "asian": "Nguyen Kim Patel Tran Chen Wong Yang Wang Chang Chan Pham Li Lin Liu Huang Wu Zhang"
    " Choi Huynh Yu",
    "hispanic": "Garcia Rodriguez Martinez Hernandez Lopez Gonzalez Perez Sanchez Ramirez Torres"
    " Flores Gomez Reyes Morales Cruz Ortiz Gutierrez Chavez Ramos Ruiz",
}
SHARED_SURNAMES = "Harris Robinson Walker Lewis Allen Wright Scott Green Adams Baker Nelson Carter"
"""Common among Black and white bearers: the first name alone distinguishes them."""
RACES = ("white", "black", "hispanic", "asian")
GENDERS = ("male", "female")
CELLS = tuple((race, gender) for race in RACES for gender in GENDERS)


def names_of(race: str, gender: str) -> list[str]:
    """Return the twenty names of a cell."""
    if race in SURNAMES:
        pairs = zip(COMMON_FIRST[gender].split(), SURNAMES[race].split(), strict=True)
    else:
        shared = islice(cycle(SHARED_SURNAMES.split()), 20)
        pairs = zip(FIRST[race, gender].split(), shared, strict=True)
    return [f"{first} {last}" for first, last in pairs]


def name_for(race: str, gender: str, number: int) -> str:
    """Return the name of a set; every name of a cell is used before one is used again."""
    names = names_of(race, gender)
    return names[number % len(names)]


def markers() -> dict[str, list[str]]:
    """Return the groups of each name, as the simulator's `MARKERS`."""
    return {name: [race, gender] for race, gender in CELLS for name in names_of(race, gender)}
