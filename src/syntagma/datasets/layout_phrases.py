"""Words of our own that passage layouts put around the sentences of a passage."""

from __future__ import annotations

SPEAKERS = (
    "Anna", "Ben", "Carla", "Dmitri", "Esther", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Keiko",
    "Lena", "Marco", "Nadia", "Oscar", "Priya", "Quentin", "Rosa", "Samir", "Tanya", "Viktor",
    "Wendy", "Yusuf", "Zoe", "Interviewer", "Guide", "Host", "Guest", "Teacher", "Student",
)  # fmt: skip
SURNAMES = (
    "Adeyemi", "Brandt", "Castellano", "Dufour", "Eklund", "Fairweather", "Grigorescu", "Hallam",
    "Ibarra", "Jansson", "Kowalczyk", "Lindqvist", "Mbeki", "Nakagawa", "Oduya", "Pettersen",
    "Quigley", "Rahman", "Sorensen", "Tanaka", "Ueda", "Vasquez", "Whitlock", "Yilmaz",
)  # fmt: skip
FILLERS = (
    "Right.", "I see.", "Go on.", "Really?", "Okay, and then?", "That's interesting.", "Mm-hm.",
    "I didn't know that.", "Are you sure?", "Yes, I read about that.", "Oh, wow.", "Makes sense.",
    "Tell me more.", "Let me write that down.", "Good point.", "Sorry, can you say that again?",
    "Is that so?", "Hm, I had heard something different.", "Fair enough.", "What else?",
)  # fmt: skip
MEETINGS = (
    "Minutes of the planning meeting", "Minutes of the monthly meeting", "Team meeting, notes",
    "Minutes of the advisory board", "Reading group: minutes", "Meeting minutes",
    "Notes of the editorial meeting", "Board meeting", "Minutes of the working group",
    "Project call, short minutes", "Local history society: minutes of the meeting",
)  # fmt: skip
ITEM_TITLES = (
    "Background", "Report", "Update", "Discussion", "Review of the draft", "Matters arising",
    "Next topic", "Facts for the brochure", "Research", "Notes from the reading",
)  # fmt: skip
MINUTES_ENDINGS = (
    "The meeting closed at {time}.", "Meeting closed: {time}", "Next meeting: to be announced.",
    "There was no other business.", "Any other business: none.", "Minutes taken by {name}.",
)  # fmt: skip
HEADINGS = (
    "Overview", "Background", "Introduction", "Summary", "Details", "Further information",
    "Key facts", "Context", "Description", "Main points", "In brief", "More about this topic",
    "What we know", "General", "Notes", "Remarks", "Explanation", "At a glance", "In depth",
)  # fmt: skip
GREETINGS = (
    "Hi {name},", "Hello {name},", "Dear {name},", "Dear all,", "Hi all,", "Hi everyone,",
    "Good morning {name},", "Dear colleagues,", "Hello,", "Hi team,", "Dear Ms {surname},",
    "Dear Mr {surname},", "{name} -",
)  # fmt: skip
OPENINGS = (
    "Here is the text that you asked for.", "Thanks for your message.",
    "As promised, here is what I found.", "I hope this finds you well.",
    "See below for the paragraph we talked about.", "Sorry for the late reply.",
    "I looked this up for you:", "Following up on our call, this is what I have so far.",
    "Please find the draft below.", "This is for the newsletter, please check it.",
    "Quick note on the topic from yesterday.",
)  # fmt: skip
CLOSINGS = (
    "Let me know if you need anything else.", "Hope that helps.", "Talk soon!",
    "Any comments are welcome.", "Please tell me if something is wrong.",
    "Looking forward to your reply.", "More next week.", "Thanks!", "Call me if it is unclear.",
)  # fmt: skip
SIGN_OFFS = (
    "Best,", "Best regards,", "Kind regards,", "Regards,", "Cheers,", "Thanks,", "Yours,",
    "Many thanks,", "All the best,", "Best wishes,", "Sincerely,",
)  # fmt: skip
SIGNATURES = (
    "Research assistant", "Office 214", "Communications", "Sent from my phone",
    "Library services", "Head of archives", "Editorial desk", "Tel. ext. 3381",
    "Please consider the environment before printing this e-mail.",
)  # fmt: skip
SUBJECTS = (
    "Re: your question", "Text for the website", "Fwd: notes", "Draft paragraph", "Re: Re: draft",
    "Some background", "For the newsletter", "Re: research", "What I found",
)  # fmt: skip
MENUS = (
    "Home | About | Contact", "Skip to main content", "Menu", "Search", "Log in  Register",
    "Share  Print  E-mail", "[edit]", "Advertisement", "Read more", "Back to top",
    "« Previous | Next »", "Subscribe to our newsletter", "Terms of use | Privacy",
    "This site uses cookies. Accept | Decline", "Related articles", "Show comments (14)",
    "Jump to navigation", "Click to enlarge", "Download as PDF", "Contents [hide]",
    "Home > Topics > Article", "Sign up for free", "Loading...", "EN | FR | DE",
)  # fmt: skip
RUNNING_HEADS = (
    "Chapter {small}", "CHAPTER {small}", "A Short Reader", "Course Notes", "Lecture {small}",
    "Working Paper No. {large}", "Handbook, 2nd edition", "DRAFT - do not cite", "Part {small}",
    "Section {small}.{small}", "Downloaded by guest", "All rights reserved.", "Appendix {small}",
    "Teacher's copy", "Study Guide | Unit {small}", "INTERNAL USE ONLY",
)  # fmt: skip
PAGE_NUMBERS = (
    "{page}", "- {page} -", "Page {page}", "Page {page} of {pages}", "p. {page}", "[{page}]",
    "{page} / {pages}", "{page}\f",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
