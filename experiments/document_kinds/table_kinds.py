"""Timetables, prices, hours, staff, results, programmes, forecasts: their columns and questions."""

from __future__ import annotations

from document_kinds.tables import Column, Table

TIMETABLE = Table(
    "Destination|To|Direction", "place",
    [
        Column("leaves", "time", "Departs|Departure|Leaves|Dep.", "the departure time of the "
            "{vehicle} to {row}",
               "When does the {vehicle} to {row} leave?|What time is the {vehicle} to {row}?|At "
               "what time does the {row} {vehicle} depart?"
               "|When can I go to {row}?|When do I have to be there for the {vehicle} to {row}?|"
               "what time does the {row} {vehicle} go?",
               "leaves at {}", "Where does the {vehicle} at {} go?|Which place does the {} "
               "{vehicle} go to?|Where to does the {vehicle} leave at {}?",
               "at {}", "Where does the first {vehicle} go?|Which {vehicle} leaves earliest?",
               "Where does the last {vehicle} go?|To which place is the latest departure?"),
        Column("platform", "platform", "{stop}|From {stop}", "the {stop} of the {vehicle} to {row}",
               "From which {stop} does the {vehicle} to {row} leave?|Which {stop} is the {vehicle} "
               "to {row} at?|At which {stop} do I board for {row}?"
               "|What {stop} do I need for {row}?|At what {stop} does the {row} {vehicle} stop?|"
               "Which {stop} must I go to for {row}?",
               "goes from {stop} {}", "Which {vehicle} leaves from {stop} {}?|Where does the "
               "{vehicle} at {stop} {} go?", "from {stop} {}", shared=True),
        Column("days", "daily|Mon–Fri|Sundays only|Saturdays|weekdays|Tue and Thu|not on Sundays|"
            "school days", "Runs|Days", "the days on which the {vehicle} to {row} runs",
               "On which days does the {vehicle} to {row} run?|When in the week can I travel to "
               "{row}?|What days does the {row} {vehicle} run?"
               "|How often does the {vehicle} to {row} run?|Which days is there a {vehicle} to "
               "{row}?|Is there a day when the {vehicle} to {row} runs?",
               "runs {}", shared=True),
        Column("fare", "cheap", "Fare|Single fare|Ticket", "the fare to {row}",
               "How much is a ticket to {row}?|What does the {vehicle} to {row} cost?|What is the "
               "fare to {row}?|How much do I pay to go to {row}?"
               "|What is charged for the trip to {row}?|how much to {row}?", "costs {}",
               "Where can I go for {}?|Which trip costs {}?", "for {}", "Which trip is the "
               "cheapest?|Where is the lowest fare to?", "Which trip is the dearest?|Where is the "
               "highest fare to?"),
        Column("duration", "minutes", "Journey|Duration|Takes", "the journey time to {row}",
               "How long does the {vehicle} to {row} take?|How long is the trip to {row}?|What is "
               "the journey time to {row}?"
               "|How much time do I need to get to {row}?|How many minutes is it to {row}?|How "
               "long am I under way to {row}?", "takes {}",
               "", "", "Which trip is the shortest?|Where do I get to fastest?",
               "Which trip takes longest?|Which journey is the longest?"),
        Column("operator", "firm", "Operator|Run by", "the operator of the {vehicle} to {row}",
               "Who runs the {vehicle} to {row}?|Which firm operates the {vehicle} to {row}?|Whose "
               "{vehicle} goes to {row}?|Which company takes me to {row}?"
               "|What is the name of the operator to {row}?|By whom is the {row} {vehicle} "
               "operated?", "is run by {}", "Where does {} go?|Which place is served by {}?",
               "with {}"),
    ],
    "The {vehicle} to {row}", (2, 4), (4, 8), "leaves", True, ("leaves",),
)  # fmt: skip
PRICES = Table(
    "Service|What we do|Work", "service",
    [
        Column("price", "dear", "Price|Cost|From", "the price of the {row}",
               "How much is the {row}?|What does the {row} cost?|What do you charge for the {row}?|"
               "What is the price of the {row}?"
               "|How much would I pay for the {row}?|how much for {row}?", "costs {}",
               "What costs {}?|What can I get for {}?|Which service is {}?", "for {}",
               "Which service is the cheapest?|What costs least?", "Which service is the most "
               "expensive?|What costs most?"),
        Column("member", "cheap", "Members|Member price|With card", "the price of the {row} for "
            "members",
               "How much is the {row} for members?|What do members pay for the {row}?|What is the "
               "member price of the {row}?|How much is the {row} with a card?"
               "|What does the {row} cost card holders?|what do i pay for {row} as a member?",
               "is {} for members", "What do members get for {}?|Which service is {} with a card?"),
        Column("time", "minutes", "Duration|Time|Takes", "the time that the {row} takes",
               "How long does the {row} take?|How much time does the {row} need?|What is the "
               "duration of the {row}?|How long should I plan for the {row}?"
               "|How many minutes are needed for the {row}?|how long is the {row}?", "takes {}",
               "Which service takes {}?", "",
               "Which service is the quickest?|What takes the least time?",
               "Which service takes longest?|What needs the most time?"),
        Column("who", "given", "By|Staff|Ask for", "the person who does the {row}",
               "Who does the {row}?|Who is in charge of the {row}?|Whom do I ask for the {row}?|"
               "Which colleague does the {row}?"
               "|Who will see to the {row}?|By whom is the {row} done?", "is done by {}",
               "What does {} do?|Which service does {} offer?"),
        Column("days", "Mondays|Tuesdays|Wednesdays|Thursdays|Fridays|Saturdays|every day|on "
            "request", "Offered|Days", "the days of the {row}",
               "When is the {row} offered?|On which day can I have the {row}?|What day is the "
               "{row} done?|Which days is the {row} available?"
               "|When could I come for the {row}?|On what days do you do the {row}?",
               "is offered {}", shared=True),
    ],
    "the {row}", (1, 3), (5, 10), always=("price",),
)  # fmt: skip
MENU = Table(
    "Dish|Today|Our kitchen", "dish",
    [
        Column("price", "cheap", "Price|Large portion|Large", "the price of the {row}",
               "How much is the {row}?|What does the {row} cost?|What do I pay for the {row}?|What "
               "is the price of the {row}?|How much would the {row} be?|{row} how much?",
               "costs {}", "Which dish costs {}?|What can I eat for {}?|What is on the menu for "
               "{}?", "for {}", "What is the cheapest dish?|Which dish costs least?",
               "What is the dearest dish?|Which dish costs most?"),
        Column("half", "small", "Small|Half portion|Child's portion", "the price of a small {row}",
               "How much is a small portion of the {row}?|What does half a portion of the {row} "
               "cost?|What is the {row} as a small portion?"
               "|How much is the {row} for children?|What is the price of half the {row}?|small "
               "{row} how much?", "is {} as a small portion", "Which dish is {} as a small "
               "portion?"),
        Column("with", "bread|rice|boiled potatoes|a green salad|mustard|cream|pickles|red cabbage|"
            "noodles|vanilla sauce|toast|chutney", "With|Served with|Side",
            "the side that comes with the {row}",
               "What comes with the {row}?|What is the {row} served with?|Which side goes with the "
               "{row}?|What do I get with the {row}?"
               "|What is on the plate beside the {row}?|With what is the {row} eaten?",
               "comes with {}", "Which dish comes with {}?|What is served with {}?", "with {}"),
        Column("allergens", "milk|gluten|nuts|egg|fish|celery|soya|mustard seed|milk, egg|gluten, "
            "milk", "Allergens|Contains", "the allergens in the {row}",
               "Which allergens does the {row} have?|What allergens are in the {row}?|Which "
               "substances in the {row} may cause an allergy?"
               "|What should people with allergies know about the {row}?|What are the allergens of "
               "the {row}?|allergens {row}?", "has the allergens {}", shared=True),
        Column("day", "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday", "Day|Served on",
            "the day of the {row}",
               "On which day is the {row} served?|When is the {row} on the menu?|What day can I "
               "eat the {row}?|Which day is it the {row}?|When do they cook the {row}?|On what day "
               "is there {row}?",
               "is served on {}", "What is served on {}?|What is there to eat on {}?|Which dish is "
               "cooked on {}?", "on {}"),
    ],
    "the {row}", (1, 3), (4, 6), always=("price",),
)  # fmt: skip
HOURS = Table(
    "Place|Facility|Department", "facility",
    [
        Column("week", "hours", "Mon–Fri|Weekdays|Monday to Friday", "the weekday opening hours of "
            "the {row}",
               "When is the {row} open on weekdays?|What are the hours of the {row} from Monday to "
               "Friday?|When does the {row} open during the week?"
               "|At what hours can I go to the {row} on a weekday?|Between which times is the "
               "{row} open Monday to Friday?|{row} hours weekdays?", "is open {} on weekdays",
               "What is open {} on weekdays?|Which place is open {} from Monday to Friday?"),
        Column("saturday", "hours", "Saturday|Sat", "the Saturday opening hours of the {row}",
               "When is the {row} open on Saturday?|What are the Saturday hours of the {row}?|At "
               "what hours can I visit the {row} on Saturdays?"
               "|Until when is the {row} open on Saturday?|When can I get into the {row} on a "
               "Saturday?|{row} open saturday?", "is open {} on Saturdays",
               "What is open {} on Saturday?"),
        Column("sunday", "hours", "Sunday|Sun|Sundays and holidays", "the Sunday opening hours of "
            "the {row}",
               "When is the {row} open on Sunday?|What are the Sunday hours of the {row}?|At what "
               "hours can I visit the {row} on Sundays?"
               "|When can I go to the {row} on a Sunday?|From when to when is the {row} open on "
               "Sunday?|{row} sunday hours?", "is open {} on Sundays",
               "What is open {} on Sunday?"),
        Column("closed", "the last week of July|Easter week|the first Monday of the month|24 to 31 "
            "December|the second half of August|public holidays|the week of the fair|January",
            "Closed|Closed in", "the time when the {row} is closed",
               "When is the {row} closed?|At what time of the year is the {row} shut?|When can't I "
               "visit the {row}?|During which time does the {row} stay closed?"
               "|When do they close the {row}?|In which period is the {row} not open?",
               "is closed in {}", "What is closed in {}?"),
        Column("phone", "phone", "Phone|Telephone|Tel.", "the phone number of the {row}",
               "What is the phone number of the {row}?|Which number do I call for the {row}?|How "
               "can I reach the {row} by phone?|What number does the {row} have?"
               "|Under which number can the {row} be called?|{row} phone?",
               "has the phone number {}", "What has the number {}?|Who answers on {}?"),
        Column("entry", "cheap", "Entry|Admission|Ticket", "the entry fee of the {row}",
               "How much is entry to the {row}?|What does it cost to get into the {row}?|What is "
               "the admission to the {row}?|How much do I pay at the {row}?"
               "|What is the ticket price of the {row}?|{row} admission?", "costs {} to enter",
               "Where is entry {}?|What costs {} to enter?", "", "Where is entry cheapest?|Which "
               "place costs least to enter?", "Where is entry dearest?|Which place costs most to "
               "enter?"),
    ],
    "the {row}", (2, 4), (3, 5),
)  # fmt: skip
STAFF = Table(
    "Name|Person|Colleague", "person",
    [
        Column("job", "job", "Role|Position|Function|Job", "the role of {row}",
               "What is the role of {row}?|What does {row} do?|What is {row}'s job?|Which position "
               "does {row} have?|As what does {row} work?|what is {row} responsible for?",
               "is the {}", "Who is the {}?|What is the name of the {}?|Who works as {}?"),
        Column("room", "room", "Room|Office|Where", "the room of {row}",
               "In which room is {row}?|Where is {row}'s office?|Where can I find {row}?|Which "
               "room does {row} sit in?|What room do I go to for {row}?|{row} office?",
               "sits in {}", "Who is in {}?|Whose office is {}?|Who sits in {}?", "in {}"),
        Column("phone", "phone", "Phone|Tel.|Extension|Number", "the phone number of {row}",
               "What is the phone number of {row}?|Which number do I call to reach {row}?|How can "
               "I phone {row}?|Under which number is {row} reached?|What number does {row} have?|"
               "{row} phone number?",
               "has the number {}", "Who has the number {}?|Whose phone number is {}?|Who do I "
               "reach on {}?"),
        Column("email", "email", "E-mail|Email|Mail", "the e-mail address of {row}",
               "What is the e-mail address of {row}?|Where do I write to {row}?|To which address "
               "can I send {row} a mail?|How can I mail {row}?|What is {row}'s email?|{row} email?",
               "writes from {}", "Who has the address {}?|Whose e-mail is {}?"),
        Column("department", "department", "Department|Team|Unit", "the department of {row}",
               "Which department is {row} in?|Where does {row} work?|To which team does {row} "
               "belong?|What is {row}'s department?|In what unit is {row}?|Which team is {row} "
               "part of?",
               "belongs to {}", "Who belongs to {}?|Who works in {}?", "in {}", shared=True),
        Column("days", "Mon–Wed|Thu and Fri|mornings|every afternoon|Tue, Thu|all week|Fridays "
            "only|Mon and Fri", "In the office|Days|Present", "the days when {row} is in",
               "When is {row} in the office?|On which days does {row} work?|When can I meet {row}?|"
               "Which days is {row} there?|What are {row}'s days?|When is it possible to speak to "
               "{row}?",
               "is in {}", shared=True),
    ],
    "{row}", (2, 4), (4, 7),
)  # fmt: skip
RESULTS = Table(
    "Team|Club", "team",
    [
        Column("points", "points", "Points|Pts", "the points of {row}",
               "How many points does {row} have?|What is the number of points of {row}?|How many "
               "points did {row} get?|What did {row} score in all?|With how many points does {row} "
               "end?|{row} points?",
               "has {} points", "Who has {} points?|Which team got {} points?", "",
               "Which team has the fewest points?|Who is last?", "Which team has the most points?|"
               "Who leads the table?"),
        Column("won", "3|4|5|6|7|8|9|11|12|14|15", "Won|W|Wins", "the number of wins of {row}",
               "How many games did {row} win?|How often did {row} win?|How many wins does {row} "
               "have?|What is the number of wins of {row}?|In how many games was {row} the winner?|"
               "{row} wins?",
               "won {} games", shared=True),
        Column("lost", "1|2|3|4|5|6|7|8|9|10", "Lost|L|Defeats", "the number of defeats of {row}",
               "How many games did {row} lose?|How often did {row} lose?|How many defeats does "
               "{row} have?|What is the number of losses of {row}?|In how many games was {row} "
               "beaten?|{row} losses?",
               "lost {}", shared=True),
        Column("coach", "person", "Coach|Trainer", "the coach of {row}",
               "Who coaches {row}?|Who is the coach of {row}?|What is the name of {row}'s trainer?|"
               "Which coach does {row} have?|By whom is {row} trained?|{row} coach?",
               "is coached by {}", "Which team does {} coach?|Whom does {} train?|Which club has "
               "{} as coach?"),
        Column("ground", "hall", "Ground|Plays at|Home", "the home ground of {row}",
               "Where does {row} play at home?|What is the home ground of {row}?|Which ground "
               "belongs to {row}?|Where are {row}'s home games?|At which place does {row} receive "
               "guests?|{row} ground?",
               "plays at {}", "Who plays at {}?|Which team's home is {}?"),
        Column("scorer", "person", "Top scorer|Best player", "the top scorer of {row}",
               "Who scored most for {row}?|Who is the top scorer of {row}?|Which player of {row} "
               "got most goals?|Who was best for {row}?|What is the name of {row}'s best player?|"
               "{row} top scorer?",
               "has {} as top scorer", "Which team does {} score for?|For whom does {} play?"),
    ],
    "{row}", (2, 4), (4, 7), "points",
)  # fmt: skip
PROGRAMME = Table(
    "Event|Item|What|Talk", "talk",
    [
        Column("time", "clock", "Time|Start|Begins", "the start of '{row}'",
               "When does '{row}' begin?|At what time is '{row}'?|What time does '{row}' start?|"
               "When is the talk '{row}'?|When do I have to be there for '{row}'?|what time is "
               "{row}?",
               "begins at {}", "What begins at {}?|What is on at {}?|Which item starts at {}?",
               "at {}", "What is first on the programme?|Which item begins earliest?",
               "What is last on the programme?|Which item starts latest?"),
        Column("place", "hall", "Place|Where|Room|Venue", "the place of '{row}'",
               "Where is '{row}'?|In which room is '{row}'?|Where does '{row}' take place?|What is "
               "the venue of '{row}'?|Where do I go for '{row}'?|where is {row}?",
               "is in the {}", "What is on in the {}?|What takes place in the {}?", "in the {}"),
        Column("speaker", "person", "Speaker|With|Led by", "the speaker of '{row}'",
               "Who speaks about '{row}'?|Who leads '{row}'?|Who gives '{row}'?|With whom is "
               "'{row}'?|What is the name of the speaker of '{row}'?|who does {row}?",
               "is led by {}", "What does {} speak about?|Which item is led by {}?|What is {}'s "
               "subject?", "with {}"),
        Column("seats", "12|15|20|24|30|40|60|80", "Seats|Places", "the number of seats of '{row}'",
               "How many seats are there for '{row}'?|How many people can come to '{row}'?|What is "
               "the number of places for '{row}'?|How many can take part in '{row}'?|For how many "
               "is there room at '{row}'?|{row} seats?",
               "has room for {}", shared=True),
        Column("fee", "price", "Fee|Price|Ticket", "the fee for '{row}'",
               "How much is '{row}'?|What does '{row}' cost?|What do I pay for '{row}'?|What is "
               "the fee for '{row}'?|How much is a ticket for '{row}'?|price {row}?",
               "costs {}", "What costs {}?|Which item can I hear for {}?", "for {}",
               "Which item is the cheapest?|What costs least?", "Which item is the dearest?|What "
               "costs most?"),
    ],
    "'{row}'", (2, 4), (4, 7), "time", False, ("time",),
)  # fmt: skip
WEATHER = Table(
    "Place|Area|Station", "place",
    [
        Column("high", "warm", "High|Max.|Day", "the highest temperature in {row}",
               "What is the highest temperature in {row}?|How warm will it be in {row}?|What is "
               "the high for {row}?|How warm does {row} get?|What maximum is expected in {row}?|"
               "{row} high?",
               "has a high of {}", "Where is the high {}?|Which place gets {} at most?", "",
               "Where is it coldest by day?|Which place has the lowest high?",
               "Where is it warmest?|Which place has the highest temperature?"),
        Column("low", "cold", "Low|Min.|Night", "the lowest temperature in {row}",
               "What is the lowest temperature in {row}?|How cold will it be in {row}?|What is the "
               "low for {row}?|How far does it cool down in {row}?|What minimum is expected in "
               "{row}?|{row} low?",
               "a low of {}", "Where is the low {}?|Which place cools down to {}?"),
        Column("sky", "sunny spells|light rain|heavy showers|fog until noon|thunderstorms|snow "
            "above 600 m|drizzle|clear skies|overcast|sleet|hail in places", "Sky|Weather|Outlook",
            "the sky in {row}",
               "What will the sky be like in {row}?|What does the forecast say of the sky in "
               "{row}?|Sun, rain or clouds: what does {row} get?|Which kind of sky does {row} get?|"
               "How will the sky be in "
               "{row}?|{row} sky?",
               "expects {}", "Where should one expect {}?|Which place gets {}?", shared=True),
        Column("wind", "wind", "Wind|Gusts", "the wind in {row}",
               "How strong is the wind in {row}?|How fast does the wind blow in {row}?|What wind "
               "is expected in {row}?|What is the wind speed in {row}?|Which gusts are forecast "
               "for {row}?|{row} wind?",
               "gets wind of {}", "Where does the wind reach {}?|Which place has wind of {}?", "",
               "Where is the wind weakest?|Which place has the least wind?",
               "Where is the wind strongest?|Which place has the most wind?"),
        Column("rain", "percent", "Chance of rain|Rain", "the chance of rain in {row}",
               "How likely is rain in {row}?|What is the chance of rain in {row}?|How probable is "
               "it that it rains in {row}?|What risk of rain does {row} have?|With what "
               "probability will {row} be wet?|{row} rain chance?",
               "has a {} chance of rain", "Where is the chance of rain {}?"),
        Column("sunset", "evening", "Sunset|Dusk", "the time of sunset in {row}",
               "When does the sun set in {row}?|What time is sunset in {row}?|At what time does it "
               "get dark in {row}?|When is dusk in {row}?|Until when is there sun in {row}?|{row} "
               "sunset?",
               "sees the sun set at {}", "Where does the sun set at {}?"),
    ],
    "{row}", (2, 4), (4, 7),
)  # fmt: skip
