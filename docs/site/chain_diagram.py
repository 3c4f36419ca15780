"""Mermaid's flow charts that are one chain, drawn without Mermaid's script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ARROW = re.compile(r"\s*-->(?:\|([^|]*)\|)?\s*")
NODE = re.compile(r"\w+(?:\[(.*)\])?")


class ChainDiagram(SphinxDirective):
    """Draws ``flowchart LR`` with a line ``a -->|does| b --> c[text of c]``."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the chain as one paragraph of boxes and arrows.

        Raises:
            docutils.parsers.rst.DirectiveError: the chart is not one chain.
        """
        first, *lines = [line.strip() for line in self.content if line.strip()]
        if first != "flowchart LR" or len(lines) != 1:
            raise self.error(
                "expected `flowchart LR` and one line with a chain of arrows; draw any other "
                "chart as an SVG file"
            )
        chain = nodes.paragraph(classes=["chain"])
        for number, part in enumerate(ARROW.split(lines[0])):
            if number % 2:
                chain += nodes.inline("", f"{part or ''} →", classes=["chain-arrow"])
                chain += nodes.Text(" ")
                continue
            node = NODE.fullmatch(part)
            if node is None:
                raise self.error(f"expected a name, or name[text], between arrows; got {part!r}")
            chain += nodes.inline("", node[1] or part, classes=["chain-node"])
            chain += nodes.Text(" ")
        return [chain]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx.

    Args:
        app: the build.
    """
    app.add_directive("mermaid", ChainDiagram)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
