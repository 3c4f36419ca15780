"""Markdown becomes the text that it stands for."""

from __future__ import annotations

import pytest

from syntagma.errors import InputError
from tests.document_files import blocks, extracted
from tests.messages import naming

PAGE = """---
title: "The ferry"
tags: [boats]
---

Timetable
=========

It *leaves* at
ten, see [the `map`](https://example.org).

* a rope
* tea
  1. black
  2. green

| From | Price |
|------|------:|
| Oban | 7 |

```python
x = 1

y = 2
```

<p hidden>no</p>

**&copy;** us
"""


def test_structure(tmp_path):
    document = extracted(tmp_path, "a.md", PAGE)
    assert document.title == "The ferry"
    assert blocks(document) == [
        ("heading1", "Timetable"),
        ("paragraph", "It leaves at ten, see the map."),
        ("item", "- a rope"),
        ("item", "- tea"),
        ("item", "1. black"),
        ("item", "2. green"),
        ("row", "From | Price"),
        ("row", "Oban | 7"),
        ("paragraph", "x = 1\n\ny = 2"),
        ("paragraph", "© us"),
    ]


@pytest.mark.parametrize(
    ("page", "title", "text"),
    [
        ("# Head\n\ntext", "Head", "Head\n\ntext"),
        ("## Head\n\ntext", "", "Head\n\ntext"),
        # A rule, and not front matter.
        ("---\nWe left.\n\n---\nLater.", "", "We left.\n\nLater."),
        ("---\r\nlang: en\r\n---\r\n# Head", "Head", "Head"),
        (f"---\ntitle: a{' ' * 300_000}b\n---\ntext", "a", "text"),
        ("---\ntitle: >-\n  The\n  ferry\nlang: en\n---\ntext", "The ferry", "text"),
        ('---\r\ntitle: "A: \\"B\\"" # not C\r\n---\r\ntext', 'A: "B"', "text"),
        ("---\ntitle: It's a # comment\n---\ntext", "It's a", "text"),
        ("---\ntitle: Ports: a list\n---\ntext", "Ports: a list", "text"),
        ("---\ntitle: 1931-02-03\n---\ntext", "1931-02-03", "text"),
        ("---\ntitle: *nobody\n---\ntext", "*nobody", "text"),
        ("---\ntitle: [a, b]\n---\ntext", "[a, b]", "text"),
        ("---\ntitle: >-\nlang: en\n---\n# Head", "Head", "Head"),
        (f"---\ntitle: {'[' * 900}\n---\ntext", "[" * 500, "text"),
        ("---\ntitle: never ends\n\ntext", "", "title: never ends\n\ntext"),
    ],
)
def test_titles_and_front_matter(tmp_path, page, title, text):
    document = extracted(tmp_path, "a.markdown", page)
    assert (document.title, document.text) == (title, text)


def test_nothing_but_front_matter(tmp_path):
    with pytest.raises(InputError, match=naming("a.md text")):
        extracted(tmp_path, "a.md", "---\ntitle: x\n---\n")


@pytest.mark.parametrize("page", ["[" * 5000, "*a " * 5000, "- " * 3000 + "x", "x" + "`" * 3000])
def test_hostile_pages_end(tmp_path, page):
    assert extracted(tmp_path, "a.md", f"before\n\n{page}").text.startswith("before")
