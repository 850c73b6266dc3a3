"""The rules that hold in this handbook alone: its fields, its data, its programs."""

from __future__ import annotations

from hooks.rule import OFF, Rule

RULES = (
    Rule(
        "front-matter",
        "a field is missing, unknown or wrong",
        "search, lists and dates would mislead",
        "correct the named field",
        OFF,
    ),
    Rule(
        "terms",
        "the file of terms that mean the same has an unknown field, a term in two groups or a"
        " reference to no group",
        "search would take different things for the same, or miss what it should know",
        "correct the named field; join the two groups, or keep the term in one",
        OFF,
    ),
    Rule(
        "term-form",
        "a Chinese note writes a term in a form that the file of terms says to avoid",
        "a reader looks for a difference between two words for one thing",
        "write the form that is suggested",
        OFF,
    ),
    Rule(
        "duplicate-title",
        "two notes of one language have one title",
        "search results cannot be told apart",
        "give one a title of its own",
        OFF,
    ),
    Rule(
        "tag-spelling",
        "a tag is spelt in two ways that differ in letter case only",
        "the page of tags lists it twice, and one address serves both",
        "write it as the other notes do",
        OFF,
    ),
    Rule(
        "twin-headings",
        "the headings of the two languages differ in number or level",
        "switching language loses the place",
        "add, remove or move the heading in the other language",
        OFF,
    ),
    Rule(
        "takeaway-length",
        "the takeaway is longer than 60 English words or 110 Chinese characters, or has more than"
        " three numbers",
        "the answer is not on the first screen",
        "keep one thing to remember and one thing to do; numbers go to the table below it",
        OFF,
    ),
    Rule(
        "note-length",
        "a note is longer than 1,800 English words or 2,600 Chinese characters before its"
        " references, without an allowance in its front matter",
        "nobody reads it to the end",
        "cut, fold the log of a measurement, or split it; 'length' may ask for more, with a reason",
        OFF,
    ),
    Rule(
        "number-density",
        "the prose has more than six numbers in 100 words",
        "numbers in a row are not compared, and not kept",
        "put them into a table",
        OFF,
    ),
    Rule(
        "hedges",
        "a note says more than eight times that something is inferred or could not be read",
        "what is known cannot be told from what is not",
        "mark an inference once; list at the end what is not verified",
        OFF,
    ),
    Rule(
        "long-listing",
        "a listing of more than 40 lines stands open in a note",
        "the three lines that matter are lost in it",
        "show these, and link to the file",
        OFF,
    ),
    Rule(
        "untranslated",
        "a note exists in one language only",
        "readers of the other see it with a notice",
        "translate it",
        OFF,
    ),
    Rule(
        "stale-contents",
        "the table of contents in a README is out of date",
        "readers on GitHub miss notes",
        "run make contents",
        OFF,
    ),
    Rule(
        "stale-register",
        "the register of published addresses lacks new ones",
        "they would not be protected",
        "run make contents",
        OFF,
    ),
    Rule(
        "address-lost",
        "an address that was published leads nowhere any more",
        "bookmarks and links from elsewhere die",
        "add an alias to the note, or an anchor above the heading",
        OFF,
    ),
    Rule(
        "diagram-syntax",
        "a mermaid diagram cannot be drawn",
        "the reader sees an error in its place",
        "mend it; put labels with punctuation in quotes",
        OFF,
    ),
    Rule(
        "diagram-timeout",
        "a mermaid diagram takes too long to read",
        "the page would hang",
        "make it smaller",
        OFF,
    ),
)
FAMILIES = (
    Rule(
        "calc-*",
        "a block that shows a calculator names one that does not exist",
        "the page lacks its form and formula",
        "the message names the nearest calculator",
        OFF,
    ),
    Rule(
        "facts-*",
        "hardware data in docs/data/, or a block that shows it, is incomplete or wrong",
        "a figure without unit or source misleads",
        "the message names the table, column or field",
        OFF,
    ),
    Rule(
        "chart-*",
        "a block that draws a chart names what does not exist, or asks for what cannot be drawn",
        "the page lacks its chart",
        "the message names the field",
        OFF,
    ),
    Rule(
        "value-*",
        "a number in prose differs from its data, lacks unit or direction, or names no datum",
        "the reader takes away a wrong figure, or one that means two things",
        "write the number that is suggested, or correct the marker behind it",
        OFF,
    ),
    Rule(
        "figure-*",
        "a drawing breaks the rules for figures",
        "it cannot be read in the dark, in the other language, or aloud",
        "the message names the element",
        OFF,
    ),
    Rule(
        "measured-*",
        "a block that shows a measurement names what does not exist",
        "the page lacks its figure",
        "the message names the file or result",
        OFF,
    ),
    Rule(
        "measurement-*",
        "a record of a measurement is incomplete, inconsistent or older than its program",
        "the figure cannot be trusted",
        "complete it, or measure again",
        OFF,
    ),
    Rule(
        "map",
        "the map of the field is incomplete or wrong",
        "the roadmap would show a hole",
        "the message names the area",
        OFF,
    ),
    Rule(
        "external-*",
        "the list of external addresses is wrong",
        "the checks of other sites would not be trusted",
        "the message names the entry",
        OFF,
    ),
)
"""Rules whose names share a beginning."""
