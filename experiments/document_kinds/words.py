"""Names and things, all made up, of which the documents in this folder are drawn."""

from __future__ import annotations

GIVEN = """Ada Agnes Aled Amara Anders Anouk Arjun Astrid Aylin Basil Beatrix Bela Benedikt Bruno
Carys Casper Cecily Chidi Clara Cosmo Dagny Damian Daria Deniz Dorothea Edda Eamon Elif Elspeth
Emeka Enid Ezra Farid Femke Fergus Fiona Florian Freya Gareth Gerda Gita Goran Greta Hakan Hanne
Hector Hilda Hugo Ida Ifor Imogen Ines Ingrid Isaac Ivo Jarek Jasmin Joachim Jonas Judith Kamal
Karin Kasia Kofi Lars Leila Leonie Linus Livia Lorna Ludo Magda Malik Marek Marit Matilda Mehmet
Milan Mirjam Moira Nadia Naomi Neil Niamh Nils Nora Odette Olaf Omar Orla Oskar Pavel Petra
Philippa Priya Quentin Rafael Rhona Rosalind Rufus Sabine Samir Selma Sigrid Silas Sorcha Stefan
Sunniva Tamsin Tariq Thea Tobias Tove Ulrike Una Vera Viktor Wanda Wilf Yara Yusuf Zelda""".split()

FAMILY = """Abara Adler Ambrose Anand Archer Ashdown Balint Barlow Becker Bellamy Bergman Birk
Blythe Brandt Brook Calder Carmody Castell Chaudhry Clegg Corrigan Crane Dahl Dalby Demir Dewhurst
Drummond Eberle Eklund Eskdale Falk Farrow Fenn Fischer Flint Forsyth Frost Gallagher Gamble
Garrick Gilmour Goddard Grant Halloran Hartwell Haugen Hobbs Holm Hussain Iversen Jardine Jensen
Kaya Keller Kendrick Kowal Kruger Lambert Larkin Lindqvist Lockwood Lowe Maddox Marchetti Mbeki
Mercer Moberg Moreau Nash Nilsen Novak Nyland Oakes Okafor Olsen Ormond Osei Palmer Pascoe Pereira
Petersen Pike Quill Rahman Ramsey Reeve Ridley Rosen Rowntree Sandoval Sharma Shaw Silva Sorensen
Stroud Sutter Tanaka Thorne Tindall Toth Tully Underhill Vance Varga Vogel Wadham Walther Weller
Whitlock Winter Wren Yates Yilmaz Zeller""".split()

PLACE_STARTS = """Alder Amble Ash Barrow Birch Black Bram Brin Burn Cald Cod Corn Cray Dal Dun East
Eld Elm Fair Fen Fern Gar Glen Gold Grim Hal Hart Hazel Hern Hol Ink Kel Kirk Lam Lang Lin Long Low
Mar Mel Mill Moss Nether Nor Oak Orm Over Pen Pol Quar Raven Red Ros Rush Sal Sand Sel Stan Stone
Sul Thorn Tor Upper Wal War Wel West Whit Wil Win Wood Yar""".split()
PLACE_ENDS = """bridge bury by combe cross dale den fell field ford gate ham haven hill holt hurst
ley mere minster mouth port ridge shaw stead stoke ton wick worth""".split()

STREETS = """Anchor Apple Bakers Beacon Bell Bishop Canal Castle Chandler Chapel Cherry Church
Cooper Dairy Ferry Forge Foundry Garden Granary Harbour Heron High Hope Juniper Kiln King Ladder
Larch Lime Linden Lock Market Meadow Mill Mint Nightingale Orchard Park Pear Pepper Priory Quarry
Quay Queen Rope Rose Saddler School Spring Station Swan Tanner Temple Tower Union Vine Walnut
Weaver Well Willow""".split()
STREET_ENDS = ["Street", "Road", "Lane", "Row", "Close", "Square", "Hill", "Walk", "Court", "Way"]

FIRM_ENDS = """& Sons|& Partners|Ltd|Services|Works|Group|Supplies|& Daughters|Brothers|Company|
Associates|Trading|Insurance|Energy|Logistics|Property|Bank|Dental|Motors|Textiles|Optics|
Plumbing|Housing Trust|Water|Telecom|Press|Instruments|Timber|Catering""".replace("\n", "").split(
    "|"
)

APPLIANCES = """kettle|dishwasher|washing machine|tumble dryer|coffee machine|toaster|
vacuum cleaner|
air fryer|bread maker|fan heater|dehumidifier|hair dryer|electric drill|lawn mower|hedge trimmer|
sewing machine|printer|router|freezer|induction hob|microwave oven|steam iron|food processor|
heat pump|pressure washer|projector|record player|e-bike|stand mixer|garden pump""".replace(
    "\n", ""
).split("|")

GOODS = """oak shelf|canvas bag|wool blanket|desk lamp|rain jacket|walking stick|tent for two|
bicycle helmet|garden chair|paint brush set|cast-iron pan|glass jug|linen shirt|leather belt|
reading lamp|wall clock|bird feeder|tool box|extension lead|door mat|hammock|yoga mat|
picture frame|pencil case|thermos flask|bath towel|pillow case|sleeping bag|wheelbarrow|
watering can|ironing board|step ladder|cork board|umbrella|rucksack|candle holder|bread knife|
chopping board|tea towel|plant pot|fishing rod|chess set|jigsaw puzzle|kite|sledge""".replace(
    "\n", ""
).split("|")

DISHES = """leek and potato soup|grilled trout|mushroom pie|lentil curry|roast chicken|
beetroot salad|
cheese omelette|lamb stew|spinach lasagne|fish cake|pumpkin risotto|stuffed pepper|beef goulash|
onion tart|chickpea burger|tomato soup|smoked mackerel|apple crumble|lemon tart|rice pudding|
chocolate mousse|plum cake|carrot cake|pear sorbet|ginger cake|goat's cheese toast|
herring on rye|bean chilli|noodle soup|potato pancake|rhubarb fool|vegetable pasty|cherry strudel|
parsnip mash|prawn cocktail|duck with cabbage|poached egg|barley broth""".replace("\n", "").split(
    "|"
)

SERVICES = """cut and blow-dry|beard trim|full colour|oil change|wheel alignment|brake check|
bicycle service|key cutting|shoe repair|trouser hem|curtain fitting|window cleaning|oven cleaning|
boiler service|chimney sweep|piano tuning|passport photo|dog grooming|eye test|contact lens check|
foot massage|back massage|swimming lesson|guitar lesson|driving lesson|translation of a page|
garden clearance|hedge cutting|carpet cleaning|tyre change|knife sharpening|
watch battery""".replace("\n", "").split("|")

FACILITIES = """swimming pool|public library|sports hall|town museum|recycling centre|post office|
pharmacy|café|ticket office|gift shop|reading room|children's corner|archive|sauna|climbing wall|
rose garden|boat hire|tennis court|repair workshop|farm shop|bakery|town hall|registry office|
lost property office|visitor centre|gallery|planetarium|blood test clinic|X-ray department|
bicycle shop|laundry|tool library""".replace("\n", "").split("|")

JOBS = """receptionist|head of finance|caretaker|librarian|head nurse|physiotherapist|deputy head|
school secretary|IT support|payroll clerk|safety officer|lab manager|press officer|head gardener|
archivist|site engineer|purchasing manager|training lead|data analyst|housing adviser|pharmacist|
maths teacher|music teacher|midwife|dietician|legal adviser|warehouse supervisor|canteen manager|
curator|transport planner|social worker|web editor""".replace("\n", "").split("|")

DEPARTMENTS = """Accounts|Admissions|Building Services|Cardiology|Communications|Customer Care|
Design|
Estates|Facilities|Grants|Human Resources|Legal|Maintenance|Marketing|Outpatients|Planning|
Procurement|Quality|Radiology|Research|Sales|Security|Student Support|Transport""".replace(
    "\n", ""
).split("|")

EVENTS = """summer fair|harvest supper|book swap|choir concert|repair café|charity run|
science evening|
craft market|film night|quiz night|lantern walk|plant sale|open day|folk dance|poetry reading|
street party|flea market|boat race|chess tournament|swimming gala|jazz evening|puppet show|
cookery class|photography walk|ceramics workshop|first-aid course|winter ball|kite festival|
school play|careers fair|sports day|prize-giving""".replace("\n", "").split("|")

TALKS = """bats in the city|the history of the canal|saving water at home|how bread rises|
old maps of the coast|the night sky|bees and wild flowers|mending clothes|safe cycling|
songs of the sea|first steps in drawing|growing tomatoes|the lost railway|family archives|
understanding heat pumps|writing for radio|paper folding|edible mushrooms|clocks and watches|
the story of salt|birds of the marsh|printing by hand|stone walls|learning with games""".replace(
    "\n", ""
).split("|")

TEAMS = """Rovers|United|Wanderers|Athletic|Harriers|Rowing Club|Swimmers|Rangers|Comets|Falcons|
Badgers|Otters|Kestrels|Lions|Mariners|Millers|Pilots|Foxes""".replace("\n", "").split("|")

MEDICINES = """Alvorin|Benzapril|Cortaline|Dolovex|Ebrasan|Fluvimol|Gastrelan|Histovar|Ibrumed|
Jovatan|Kelpadin|Lortazine|Migravil|Nasolene|Optirin|Prevacor|Quinolex|Rhinamol|Sedoval|Tuscalin|
Urivane|Vasotrim|Xeralip|Zolmaren""".replace("\n", "").split("|")

BRANDS = """Arvo|Bellora|Brisk|Calora|Dovetail|Elvan|Ferro|Glint|Halden|Inova|Jolt|Kivra|Lumo|
Merrow|
Norda|Ostra|Pello|Quanto|Rondo|Silva|Tarn|Umbra|Velo|Wexo|Yarrow|Zentro""".replace("\n", "").split(
    "|"
)
