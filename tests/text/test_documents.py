from itertools import chain
from pathlib import Path

from syntagma.text.documents import read_documents


def test_documents_are_rebuilt_as_raw_text(tmp_path: Path) -> None:
    def row(number: str, form: str, misc: str = "_") -> str:
        return "\t".join([number, form, *"_" * 7, misc])

    no = "SpaceAfter=No"
    blocks = [
        [
            "# newdoc id = a",
            "# newpar",
            "# text = I can't.",
            row("1", "I"),
            row("2-3", "can't", no),
        ],
        [row("2", "ca"), row("3", "n't"), row("4", "."), ""],
        ["# text = Why?", row("1", "Why", no), row("2", "?", no), ""],
        ["# newpar", "# text = No", row("1", "No"), ""],
        ["# newdoc id = b", "# text = Yes", row("1", "Yes"), ""],
    ]
    path = tmp_path / "tiny.conllu"
    path.write_text("\n".join(chain.from_iterable(blocks)) + "\n", encoding="utf-8")
    first, second = read_documents(path)
    assert first.text == "I can't. Why?\n\nNo"
    assert [first.text[a:b] for a, b in first.sentences] == ["I can't.", "Why?", "No"]
    words = [[first.text[start:end] for _, start, end in cut.words] for cut in first.words]
    assert words == [["I", "ca", "n't", "."], ["Why", "?"], ["No"]]
    assert [cut.multiword for cut in first.words] == [((1, 3),), (), ()]
    assert second.text == "Yes"
    (joined, _) = read_documents(path, paragraphs=False)
    assert joined.text == "I can't. Why?No"
