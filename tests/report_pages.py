"""Run folders of each task for reports, and checks of report pages."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser

from syntagma.training.run import train
from tests.builders import (
    dream,
    experiment,
    open_qa,
    pairs,
    relations,
    squad,
    treebank,
    typing,
)

DATA = {
    "choice": (dream, "dream.json"),
    "open_qa": (open_qa, "dev.jsonl"),
    "pairs": (pairs, "pairs.jsonl"),
    "parsing": (treebank, "tides.conllu"),
    "relations": (relations, "relations.txt"),
    "spans": (squad, "harbour.json"),
    "typing": (typing, "typing.json"),
}


VOID_TAGS = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "rect", "path"}


class Balanced(HTMLParser):
    """Check that all tags of a page are closed, and collect its text and headings."""

    def __init__(self, page):
        super().__init__()
        self.opened, self.headings, self.text = [], [], ""
        self.feed(page)
        assert self.opened == []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID_TAGS:
            self.opened.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID_TAGS:
            assert self.opened.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.opened and self.opened[-1] == "h2":
            self.headings.append(data)


def trained(root, encoder, task, name, **changes):
    write, file = DATA[task]
    data = root / file
    if not data.is_file():
        write(data, copies=1)
    head = {"arc_width": 8, "relation_width": 4} if task == "parsing" else {}
    settings = experiment(task, str(data), encoder, head=head, **changes)
    train(settings, root / name)
    return root / name


def page_of(out):
    page = (out / "index.html").read_text(encoding="utf-8")
    # No external resources, no scripts.
    addresses = set(re.findall(r"https?://[^\"' )<]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "<script" not in page
    return page


def changed(run, folder, name, change):
    """Copy a run and change one of its files."""
    shutil.copytree(run, folder)
    (folder / name).write_text(change((folder / name).read_text()))
    return folder
