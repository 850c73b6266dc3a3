"""Every rule of the checks: what it says, why it matters, how to mend what it finds."""

from __future__ import annotations

from hooks import rules_ours
from hooks.rule import OFF, Rule

_RULES = (
    # Where links lead
    Rule(
        "dead-link",
        "a link, a field or a diagram names a file that does not exist",
        "the reader gets a 404 page",
        "correct the relative path; the nearest existing one is suggested",
    ),
    Rule(
        "dead-image",
        "an image, a film or its poster does not exist",
        "the reader sees a broken picture",
        "correct the relative path, or add the file",
    ),
    Rule(
        "wrong-case",
        "a path differs from the file's only in letter case, or in the form of its Unicode",
        "it works on the author's computer and breaks on the server",
        "write the path exactly as the file is named",
    ),
    Rule(
        "dead-anchor",
        "the page is there, the heading or anchor is not",
        "the reader lands at the top of a long page and must search",
        "use GitHub's id: lower case, blanks to '-', punctuation dropped, Chinese kept",
    ),
    Rule(
        "view-difference",
        "a link works in one of the two views of a note, the site and GitHub, not in the other",
        "half of the readers meet a dead link",
        'link to a heading\'s own id, or put <a id="…"></a> above the place; encode blanks',
    ),
    Rule(
        "link-folder",
        "a link names a folder",
        "GitHub lists its files, the site has no page for it",
        "link to the index page or a note in the folder",
    ),
    Rule(
        "link-html",
        "a link names a page as the site has it, not the .md file it is made from",
        "it breaks on GitHub, and is not followed when the note moves",
        "write the relative path of the .md file",
    ),
    Rule(
        "absolute-link",
        "a path begins with a slash",
        "GitHub, the site, and an unzipped folder each start at another place",
        "write a relative path",
        "warning",
    ),
    Rule(
        "link-outside",
        "a link leads out of the docs folder",
        "the site does not hold what lies there, though GitHub does",
        "move the target below docs/, or give its full address on GitHub",
    ),
    Rule(
        "link-language",
        "a Chinese note links to an English one though the Chinese twin exists, or the reverse",
        "the reader is thrown into another language",
        "link to the note of the same language",
    ),
    Rule(
        "self-link",
        "a note links to itself by its file name",
        "renaming the note breaks it, and a click may reload the page",
        "write the heading alone, such as '#the-numbers', or drop the link",
        "warning",
    ),
    Rule(
        "own-address",
        "a page of this repository is linked by its full address on GitHub or on the site",
        "offline it is dead, in a fork it leads away, and no check follows a rename",
        "write the relative path",
    ),
    Rule(
        "include",
        "an included file or its section does not exist, or leads back to itself",
        "the page lacks its program or text, or cannot be built",
        "correct the path below docs/, or add the section's marks to the file",
    ),
    # Links by themselves
    Rule(
        "empty-link",
        "a link has no target, or no words",
        "there is nothing to click, or nothing that a screen reader could say",
        "give it both, or remove it",
    ),
    Rule(
        "undefined-reference",
        "'[words][label]' without a definition of the label",
        "the reader sees the brackets",
        "add '[label]: target', or correct the label",
    ),
    Rule(
        "unused-definition",
        "a link definition that nothing refers to",
        "it rots unseen, and often a reference was misspelt",
        "remove it, or correct the reference",
        "warning",
    ),
    Rule(
        "shadowed-definition",
        "a label is defined twice",
        "GitHub takes the first definition, the site the last",
        "give one of them another label",
    ),
    Rule(
        "footnote",
        "a footnote without definition, without use, or defined twice",
        "the reader sees '[^x]', or never sees the note",
        "define each footnote once and use each one defined",
    ),
    Rule(
        "image-alt",
        "an image without alternative text",
        "who cannot see it learns nothing",
        'say in words what the image shows; alt="" in HTML where it only decorates',
        "warning",
    ),
    Rule(
        "markdown-in-html",
        "Markdown inside raw HTML that the site does not read",
        "the reader of the site sees brackets where GitHub has links",
        'write markdown="1" into the tag, which begins its line',
        "warning",
    ),
    Rule(
        "fence",
        "what looks like a fence is never closed, or has a header that the site does not read",
        "the rest of the page becomes code in one view and text in the other",
        'close it with the same marks; after the language write options such as title="…"',
        "warning",
    ),
    # Headings and ids
    Rule(
        "duplicate-heading",
        "two headings of a note are alike",
        "links to the second one move when a heading is added",
        "rename one of them",
        "warning",
    ),
    Rule(
        "duplicate-id",
        "an id stands twice on a page",
        "browsers go to the first, whichever was meant",
        "rename one of them",
    ),
    Rule(
        "heading-level",
        "headings skip a level, or a second heading of level 1",
        "outlines and screen readers lose the structure",
        "step down one level at a time",
        "warning",
    ),
    Rule(
        "title-heading",
        "the first heading is not the title of the front matter",
        "search and page show two names",
        "make both the same",
        OFF,
    ),
    # The tree
    Rule(
        "nav-missing",
        "the navigation names a file that does not exist",
        "the menu has a dead entry",
        "correct the path in nav",
    ),
    Rule(
        "nav-absent",
        "a note is not in the navigation",
        "nobody finds it by browsing",
        "list it in nav of mkdocs.yml",
        "warning",
    ),
    Rule(
        "orphan-asset",
        "an image or document that nothing refers to",
        "every reader of the offline archive downloads it for nothing",
        "use it, or delete it",
        "warning",
    ),
    Rule(
        "alias",
        "a former id is in use again, or claimed by two notes",
        "old bookmarks lead to the wrong page",
        "remove it from all but one note",
    ),
    Rule(
        "redirect-loop",
        "redirects lead back to where they began",
        "the browser gives up",
        "let each lead to the page that exists",
    ),
    Rule(
        "redirect-chain",
        "a redirect leads to another redirect",
        "each step costs time, and when one is removed all before it die",
        "let it lead to the last page at once",
    ),
    Rule(
        "redirect-dead",
        "a redirect leads to a page that does not exist",
        "an old bookmark ends nowhere",
        "name the page that took its place",
    ),
    Rule(
        "encoding",
        "invalid UTF-8, a byte-order mark, an invisible line separator",
        "text is lost or cut where nobody sees why",
        "save the file as UTF-8 without byte-order mark; replace the separator",
    ),
    # What a note may do
    Rule(
        "unsafe-html",
        "a tag, an attribute or an address that notes may not use",
        "it could run in the reader's browser, or ask a third party for something",
        "use Markdown; few HTML tags are allowed, and everything is kept in the repository",
        "warning",
    ),
    # The built site
    Rule(
        "built-dead-link",
        "a built page links to or loads what the site does not hold",
        "as for dead-link; templates and generated lists are seen here too",
        "correct what writes the link",
    ),
    Rule(
        "built-dead-anchor",
        "a built page links to an id that the other page does not have",
        "as for dead-anchor",
        "correct what writes the link",
    ),
    Rule(
        "third-party",
        "a built page would ask another host for something",
        "readers are tracked, and behind firewalls the page stays blank",
        "keep a copy in docs/assets/vendor",
    ),
)


def all_rules() -> tuple[Rule, ...]:
    """Return every rule, families (`facts-*`) last."""
    return _RULES + rules_ours.RULES + rules_ours.FAMILIES


def find(name: str) -> Rule | None:
    """Return the rule of a finding."""
    for rule in all_rules():
        if rule.name == name or (rule.name.endswith("*") and name.startswith(rule.name[:-1])):
            return rule
    return None


def severity_elsewhere(name: str) -> str:
    """Return a rule's severity in a tree that is not this handbook; unknown rules are ours."""
    rule = find(name)
    return rule.elsewhere if rule else OFF


def as_text() -> str:
    """Return the list of rules for people."""
    parts = []
    for rule in all_rules():
        note = {
            OFF: " (only in this handbook)",
            "warning": " (a warning in other trees)",
        }.get(rule.elsewhere, "")
        parts.append(
            f"{rule.name}{note}\n    what: {rule.what}\n    why:  {rule.why}\n    mend: {rule.mend}"
        )
    return "\n".join(parts)
