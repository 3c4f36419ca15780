"""The words of the sentence pairs.

Verbs of two people make sense in both directions, and all verbs are regular, so that *praised* is
the past tense and the participle: no form of a word says who did what to whom.
"""

from __future__ import annotations

PEOPLE = tuple(
    (
        "actor admiral advocate agent ambassador analyst apprentice archer architect artist "
        "assistant astronaut athlete auctioneer auditor author baker banker barber bartender "
        "beekeeper biologist bishop blacksmith boxer broker builder butcher butler buyer camper "
        "captain caretaker carpenter cashier chairman chauffeur chef chemist clerk climber clown "
        "coach collector colonel comedian composer conductor consul cook courier cousin critic "
        "cyclist dancer dealer decorator dentist designer detective director diver doctor driver "
        "drummer economist editor electrician engineer explorer farmer fencer ferryman "
        "firefighter fisherman florist forester gardener geologist glazier goalkeeper governor "
        "grocer guard guest guide guitarist gymnast hairdresser harpist hiker historian hunter "
        "inspector intern inventor investor janitor jeweller jockey journalist judge juggler "
        "juror king landlord lawyer lecturer librarian lifeguard linguist locksmith magician "
        "manager mason mayor mechanic merchant messenger midwife miller miner minister model monk "
        "musician neighbour notary novelist nurse officer organist painter partner passenger "
        "pastor peasant pharmacist philosopher photographer physicist pianist pilot pirate "
        "planner plumber poet policeman porter postman potter president priest prince printer "
        "prisoner producer professor programmer publisher queen rancher ranger receptionist "
        "referee reporter retailer rider runner sailor salesman scholar scientist sculptor "
        "secretary senator sergeant sheriff shepherd shoemaker singer skater skier soldier "
        "solicitor spy steward stranger student surgeon surveyor swimmer tailor tenant therapist "
        "tourist trainer translator treasurer tutor umpire veteran violinist visitor waiter "
        "warden watchmaker weaver witness workman wrestler writer zookeeper"
    ).split()
)
ACTS = tuple(
    (
        "admired adored alarmed amused annoyed answered applauded approached assisted attacked "
        "avoided backed blamed blocked bothered called calmed chased cheered comforted commended "
        "congratulated consulted contacted criticised dazzled deceived defended delighted "
        "despised detested disappointed dismissed distracted doubted embarrassed encouraged "
        "entertained envied escorted excused feared flattered followed frightened greeted guarded "
        "guided harassed hated helped hired honoured hosted hugged ignored imitated impressed "
        "insulted interrupted interviewed invited irritated kicked kissed liked mentioned missed "
        "mocked nominated observed offended overlooked paid passed pardoned photographed pitied "
        "pleased praised protected pulled punished pushed questioned recognised recommended "
        "rejected replaced rescued respected scared scolded searched shocked spotted startled "
        "summoned supported surprised suspected targeted teased thanked threatened trained "
        "trusted visited warned watched welcomed worried"
    ).split()
)
"""What one person did to another, in the past tense."""
MOVES = tuple(
    (
        "agree apologise appear arrive bow campaign chat collapse compete complain cough cry "
        "dance depart disappear doze escape exercise faint fidget frown gamble gesture giggle "
        "groan grumble hesitate hurry jog joke jump knock laugh limp listen march meditate mumble "
        "mutter nod panic pause perform pray protest react recover relax resign rest retire "
        "return sail scream shiver shout shrug sigh skate smile smoke snore sob stammer stay "
        "stumble succeed suffer surrender sweat talk tremble vanish volunteer vote wait walk "
        "wander wave whisper whistle wink work yawn yell"
    ).split()
)
"""What one person does alone: bases of regular verbs."""
QUALITIES = tuple(
    (
        "ambitious anxious bald bitter blond bored brave busy calm careful cautious cheerful "
        "clever clumsy confident curious deaf eager elderly famous friendly generous gentle "
        "gloomy grumpy handsome happy helpful honest hungry impatient jealous lazy lonely loyal "
        "lucky modest nervous noisy patient polite poor proud quiet rich rude sad serious short "
        "shy sick silent sleepy stubborn tall thin thirsty tired tough weary wealthy wise young"
    ).split()
)
THINGS = tuple(
    (
        "apple backpack badge basket bicycle blanket book bottle bowl bracelet bucket camera "
        "candle card carpet chair clock coat coin compass cup drum envelope flute folder glass "
        "guitar hammer hat helmet jacket kettle key knife ladder lamp letter map medal mirror "
        "necklace newspaper notebook painting parcel pencil pillow plate poster purse radio "
        "ribbon ring rope sandwich scarf shirt spoon stamp suitcase sword teapot ticket torch "
        "towel trophy umbrella vase violin wallet watch whistle"
    ).split()
)
GIVINGS = tuple("assigned awarded handed lent loaned mailed offered sent sold".split())
"""Verbs with *to* or with two objects; past tense and participle are the same."""
MAKINGS = tuple("caused compelled convinced forced induced persuaded prompted provoked".split())
"""Who is persuaded to wait waits."""
KNOWINGS = tuple("discovered forgot knew noticed realised remembered understood".split())
"""What was known happened."""
SIDES = tuple("behind beside near opposite".split())
TIMES = tuple("afterwards earlier later recently today yesterday".split())

DOUBLED = ("chat", "jog", "nod", "shrug", "sob")
"""Bases that double their last letter before *-ed* and *-ing*."""


def past(base: str) -> str:
    """Return the past tense of a regular verb.

    >>> [past(base) for base in ("wave", "cry", "nod", "panic", "pray")]
    ['waved', 'cried', 'nodded', 'panicked', 'prayed']
    """
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeo":
        return base[:-1] + "ied"
    return _doubled(base) + "ed"


def gerund(base: str) -> str:
    """Return the form with *-ing* of a regular verb.

    >>> [gerund(base) for base in ("wave", "cry", "nod", "agree")]
    ['waving', 'crying', 'nodding', 'agreeing']
    """
    silent = base.endswith("e") and not base.endswith("ee")
    return (base[:-1] if silent else _doubled(base)) + "ing"


def _doubled(base: str) -> str:
    if base in DOUBLED:
        return base + base[-1]
    return base + "k" if base.endswith("ic") else base
