"""Words and phrases of the made-up sentences in ``splitter_sentences.py``.

Phrases are separated by bars or line ends.  A slot such as ``{last}`` is filled at random.
"""

from __future__ import annotations


def _phrases(listed: str) -> list[str]:
    return listed.replace("\n", "|").strip("|").split("|")


FIRST = """
Adam Alice Amir Anna Arthur Ben Bella Carl Clara Daniel Diana Edgar Elena Emil Farah Felix Flora
Fred Gina Grace Hana Harry Helen Hugo Ida Igor Iris Ivan Jack Jane Joan Jonas Julia Karim Kate
Laura Leo Lena Lily Louis Lucy Marta Martin Max Mei Milan Mina Nadia Nina Noah Nora Olga Omar
Oscar Paul Paula Peter Petra Ray Rita Robert Rosa Ruth Sam Sara Simon Sofia Tara Theo Tina Tom
Vera Victor Walter Wendy Will Yara Yusuf Zoe
""".split()
PLACES = """
Leeds Dover Oslo Turin Lagos Lima Perth Derby York Boston Denver Dallas Geneva Vienna Cairo Delhi
""".split()
NOUNS = """
boat bridge mill harbour house garden school shop office road train letter map lamp box key gate
roof river market library museum hall kitchen window door ticket book table chair tree field horse
dog bird cook guard teacher driver clerk nurse farmer sailor baker engineer committee owner crew
""".split()
PLURALS = """
boats maps lamps letters tickets nails screws ropes eggs apples pears books chairs tools stamps
coins shells boots hats cups plates rooms visitors members children people workers streets
""".split()
VERBS = """
came stayed left slept waited agreed laughed answered returned failed opened closed worked fell
helped won lost stopped arrived started moved
""".split()
PHRASES = _phrases(
    """
likes it|like it|has no map|have a small boat|saw the old mill|went home|was late|were tired
is ready|are ready|will come back|would not say|can wait|could not find the key|paid the bill
works there|live nearby|sells lamps|sold the house|read the letter twice|took the train
asked for more time|opened again in spring|closed at six|knows the way|found a new place
did not answer|does not work|made no sense|bought two tickets|lost the game|cost too much
came with a friend|looks quite new|had been there before|told us about the plan|wrote a report
runs every day|turned to the left|gave it back|kept the box|grew up there|need a new roof
"""
)
PRONOUNS = """
I He She It We They You Everyone Nobody Somebody Both Each Most All Some None This That These
Those Everything Nothing Anyone Others Many Few
""".split()
DETERMINERS = """
The A This That Our Their His Her My Its Your Every No One Another Each Some Neither Either
""".split()
OPENERS = _phrases(
    """
Then|Later|Now|But|And|So|Still|However,|Today|Yesterday|After that,|In the end|Meanwhile,|Perhaps
Of course|At first|Soon|There|Here|As a result,|Because of this|For years|Since then|If so,|Even so,
"""
)
QUESTIONS = _phrases(
    """
Who knows?|What happened?|Why not?|Where is it?|When does it open?|How much is it?|Is that so?
Did anyone see it?|Can you help?|Are you sure?|Do they know?|Was it cold?|Which one is it?
"""
)
COMMANDS = _phrases(
    """
Please wait.|Call us today.|Ask at the desk.|See below.|Come early.|Do not feed the birds.
Keep the ticket.|Bring a coat.|Go left.|Let us know.|Take the stairs.|Thank you!|Well done!
"""
)
MASS = "Rain Snow Water Dinner Lunch Work School Music Traffic Trade Bread Admission".split()
NUMBERS = "Two Three Four Five Six Ten Twelve Twenty Thirty Hundreds Thousands Dozens of".split()
IMPERATIVES = """
Add Stir Mix Bring Pour Cook Serve Turn Press Call Ask Ring Take Leave Read Send Wash Cut Fill Open
Close Check Remove Write Visit Use Keep Try Put Clean Follow
""".split()
MONTHS = "Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sept. Oct. Nov. Dec.".split()
FULL_MONTHS = "January February March April May June July August September October".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
STREETS = "St. Rd. Ave. Ln. Dr. Blvd. Sq. Pl. Ct. Hwy. Pkwy.".split()
COMPANIES = ["Ltd.", "Inc.", "Co.", "Corp.", "Bros.", "Ltd.", "Inc.", "LLC.", "& Co.", "Pty. Ltd."]
COUNTRIES = "U.S. U.S. U.S. U.K. U.S.A. E.U. U.N. D.C. N.Y. L.A. U.A.E. N.Z. S.C. B.C.".split()
OF_COUNTRY = _phrases(
    """
Army|Senate|Congress|Navy|Treasury|Supreme Court|government|economy|coast|President {first} {last}
Air Force|Department of Trade|Open|dollar|Embassy|Post Office|Secretary of State|border
"""
)
DEGREES = "Ph.D. M.D. B.A. M.A. B.Sc. M.Sc. M.B.A. LL.B. D.Phil. B.S. M.S. J.D. Ed.D. Ph.D.".split()
TITLES = "Dr. Mr. Mrs. Ms. Prof. Rev. Gen. Lt. Capt. Sen. Gov. Fr. Sgt. Col. Hon. Cllr. St.".split()
NOTES = _phrases(
    """
est. {year}|b. {year}|d. {year}|c. {year}|ca. {year}|fl. {year}|pop. {many}|r. {year}|approx. {few}
tel. {many}|cf. {last}|ed. {last}|trans. {first} {last}|vol. {few}|p. {few}|pp. {few}|ch. {few}
fig. {few}|max. {few}|min. {few}|incl. VAT|excl. VAT|no. {few}|arr. {few}|dep. {few}|m. {year}
est. pop. {many}|elev. {many}|Sat. only|Fig. {few}|Eq. {few}|opp. {last} Hall|formerly {last} Ltd.
"""
)
UNITS = "lb. oz. ft. in. hr. hrs. min. sec. mi. yd. km. kg. cm. mm. tsp. tbsp. pts. gal.".split()
HEADINGS = _phrases(
    """
NOTICE|WARNING|Opening hours|How to get there|{last} Hall|About us|Contents|Summary|A Short History
Things to bring|Contact|The Early Years|Chapter {few}|Part {few}|RULES|Prices|{noun} repairs
Frequently asked questions|Method|Results and discussion|Directions|House rules|MENU
Welcome to {last}
"""
)
ITEMS = _phrases(
    """
All {plurals} must be paid for|Please do not lean on the {noun}|{plurals} are not allowed
Do not go in|The {noun} is closed|No {plurals} beyond this point|Take the {noun} back up
Turn the {noun} off|Please sign in|Hang your coat up|Two {plurals} and a {noun}|{plurals}, {plurals}
A {noun} for {first}|{first} {last}|{number} {last} Road|Open until nine|Free entry for members
Bring {plurals}|Check that the {noun} is on|{first}: {plurals}|Keep {plurals} in|new {plurals}
Wash the {plurals}|Someone left a {noun} behind|The {noun} you came with|{plurals} to look for
{noun} and {noun}|Tea and coffee|Ask {first} first|Staff only|Mind the {noun}|Ring twice to get in
"""
)
SHORT_ITEMS = _phrases(
    """
{noun}|{plurals}|{plurals}|milk|bread|salt|{few} {plurals}|a {noun}|new {plurals}|{last}|{first}
the {noun}|red {plurals}|{first} {last}|{noun} and {plurals}
"""
)
CONTACTS = _phrases(
    """
{few} {last} Street|{few} {last} Road|{last}|Phone 555-01{few}|Tel. {many}|{last} {many}
{first} {last}|{first}@{last}.org|{last} House|Fax 555-01{few}|Open Mon. to Fri.|9 a.m. to 5 p.m.
{last} & Sons Ltd.|No. {few} {last} St.|{last}.org|Manager: {first} {last}|Room {few}|Est. {year}
Dr. {first} {last}
"""
)
ENUMERATIONS = ["{plurals}, {plurals}, etc. and {plurals}", "{plurals}, etc., in {last}"]
SYLLABLES = """
al bar cor dan el fen gar hol in jar kel lon mar nor ol pen quin ros sel tor ul ven wes yor zan
""".split()
ENDINGS = (
    "ton ford ley by ham field man son er well wick stead ova ini ez ski berg mont dale".split()
)
DEPARTMENTS = ["Dept. of Physics", "Dept. of Health", "Univ. of Leeds", "Bd. of Trade", "U.S. Navy"]
MARKS = ["- ", "* ", "• ", "– ", "· ", "> "]
