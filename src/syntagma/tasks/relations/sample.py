"""A small relation data set: which of two adjacent words is clearly longer, if any."""

from __future__ import annotations

from pathlib import Path

from syntagma.tasks.sample import SENTENCES, Sample


def write_relations(folder: Path, copies: int) -> str:
    """Write pairs of adjacent words in SemEval's format."""
    lines: list[str] = []
    for _ in range(copies):
        for text in SENTENCES:
            words = text.split()
            for first in range(0, len(words) - 1, 3):
                one, other = (len(word) for word in words[first : first + 2])
                relation = "Longer(e1,e2)" if one > other + 1 else "Other"
                relation = "Longer(e2,e1)" if other > one + 1 else relation
                marked = [*words]
                marked[first] = f"<e1>{marked[first]}</e1>"
                marked[first + 1] = f"<e2>{marked[first + 1]}</e2>"
                lines.append(f'{len(lines) // 4 + 1}\t"{" ".join(marked)}"')
                lines += [relation, "Comment:", ""]
    path = folder / "neighbours.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


SAMPLE = Sample(write_relations, head={"max_length": 64})
