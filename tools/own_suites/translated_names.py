"""Names of the suites in five languages: frequent first names and surnames of each origin.

Local names are among the frequent ones of Germany, France, Spain, Italy and the Netherlands, by
the lists of their statistical offices and registers; Polish and Moroccan names are among those of
people from there, in Latin letters. Polish surnames have the form of the gender. How the names are
perceived has not been measured; the text therefore states the nationality as well.
"""

LANGUAGES = ("de", "fr", "es", "it", "nl")
FIRST = {
    ("de", "male"): "Lukas Jonas Felix Stefan Markus Thomas Andreas Jan Florian Tobias Uwe Holger",
    ("de", "female"): "Anna Laura Sabine Petra Katrin Julia Sandra Heike Lena Anke Ute Silke",
    ("fr", "male"): "Julien Pierre Nicolas Antoine Luc Thierry Olivier Hugo Alain Denis Remi Yves",
    ("fr", "female"): "Camille Claire Sylvie Juliette Manon Agathe Nathalie Lucie Odile Elise"
    " Anne Delphine",
    ("es", "male"): "Javier Carlos Sergio Pablo Diego Alvaro Manuel Jorge Andres Rafael Luis Raul",
    ("es", "female"): "Carmen Lucia Marta Elena Pilar Rocio Beatriz Ana Cristina Teresa Irene"
    " Raquel",
    ("it", "male"): "Marco Luca Paolo Matteo Davide Stefano Giorgio Andrea Fabio Enrico Pietro"
    " Dario",
    ("it", "female"): "Giulia Chiara Francesca Elisa Paola Silvia Martina Laura Serena Anna Sara"
    " Marta",
    ("nl", "male"): "Daan Jeroen Pieter Bram Maarten Sander Joost Ruben Thijs Wouter Koen Gijs",
    ("nl", "female"): "Sanne Lotte Marieke Femke Annemarie Ilse Esther Roos Anouk Lieke Hanneke"
    " Inge",
    ("polish", "male"): "Piotr Marek Tomasz Pawel Adam Marcin Rafal Jacek Michal Jan Karol Dawid",
    ("polish", "female"): "Anna Ewa Agnieszka Marta Monika Joanna Beata Dorota Zofia Alicja Hanna"
    " Magda",
    ("moroccan", "male"): "Youssef Mohamed Hamza Karim Rachid Omar Hassan Abdellah Mehdi Ismail"
    " Younes Khalid",
    ("moroccan", "female"): "Fatima Khadija Amina Salma Zineb Nadia Samira Hajar Meryem Latifa"
    " Ilham Naima",
}
SURNAMES = {
    "de": "Schneider Weber Wagner Becker Hoffmann Richter Klein Wolf Neumann Zimmermann Vogel Lang",
    "fr": "Martin Bernard Dubois Moreau Laurent Lefebvre Girard Rousseau Fournier Morel Mercier"
    " Blanc",
    "es": "Navarro Romero Serrano Molina Castro Ortega Rubio Marin Iglesias Medina Garrido Vidal",
    "it": "Rossi Bianchi Ferrari Romano Colombo Ricci Marino Greco Bruno Gallo Conti Costa",
    "nl": "Jansen Bakker Visser Smit Meijer Mulder Bos Hendriks Dekker Brouwer Kuipers Peters",
    "moroccan": "Benali Alaoui Tazi Idrissi Berrada Bennani Chraibi Lahlou Naciri Ouazzani Sabri"
    " Fassi",
}
POLISH_STEMS = "Kowal Wisniew Lewandow Kamin Zielin Szyman Dabrow Jankow Wilczyn Pawlow Majew Sokol"
"""Surnames without their ending: -ski for men, -ska for women."""
POLISH_ENDINGS = {"male": "ski", "female": "ska"}


def name_for(language: str, origin: str, gender: str, number: int) -> str:
    """Return the name of a set: each is used in one language, as often as any other."""
    source = language if origin == "local" else origin
    if source == "polish":
        surnames = [f"{stem}{POLISH_ENDINGS[gender]}" for stem in POLISH_STEMS.split()]
    else:
        surnames = SURNAMES[source].split()
    firsts = FIRST[source, gender].split()
    shift = LANGUAGES.index(language)
    return f"{firsts[number % len(firsts)]} {surnames[(number + shift) % len(surnames)]}"
