"""Facts about several things of a kind (trains, dishes, colleagues), in rows or in sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from document_kinds.document import Document, capital, mark, padded, unmarked
from document_kinds.draw import Draw
from document_kinds.fields import Context, filled, split, width_of

NOTHING = ["–", "-", "n/a", "—", "tbc"]


@dataclass(frozen=True)
class Column:
    """A property of the rows. In its wordings ``{row}`` is a row's name, ``{}`` its own value.

    Args:
        key: its name.
        draw: what draws its values, see ``Draw.fresh``.
        label: its headings, separated by ``|``.
        noun: what is asked for, "the price of {row}".
        ask: questions with ``{row}``.
        say: what a sentence about the row says of it: "costs {}".
        inverse: questions that ask for the row by this value.
        qualifier: what tells a row from another of the same name: "from platform {}".
        low: questions for the row of the lowest value; ``high`` for that of the highest.
        high: see ``low``.
        shared: whether rows may have the same value; then no ``inverse`` if it is not the only one.
    """

    key: str
    draw: str
    label: str
    noun: str
    ask: str
    say: str
    inverse: str = ""
    qualifier: str = ""
    low: str = ""
    high: str = ""
    shared: bool = False


@dataclass(frozen=True)
class Table:
    """Kinds of rows and columns.

    Args:
        label: headings of the rows' names.
        draw: what draws their names.
        columns: what may be said of them; a document has some.
        subject: what a sentence about a row begins with: "The train to {row}".
        keep: fewest and most columns of a document.
        size: fewest and most rows.
        sort: the column by which rows may be in order.
        twice: whether a row's name may occur twice, with different qualifiers.
        always: columns of every document.
        ordered: whether columns keep their order.
    """

    label: str
    draw: str
    columns: Sequence[Column]
    subject: str
    keep: tuple[int, int] = (2, 4)
    size: tuple[int, int] = (4, 8)
    sort: str = ""
    twice: bool = False
    always: tuple[str, ...] = ()
    ordered: bool = False


@dataclass
class Row:
    """A row: its name, its values by column; a value that is missing is not there."""

    number: int
    name: str
    values: dict[str, str] = field(default_factory=dict)


def rows_of(
    doc: Document, table: Table, context: Context | None = None, prefix: str = "row"
) -> tuple[list[Column], list[Row]]:
    """Draw columns and rows, and ask about them, and about what is not among them."""
    draw, context = doc.draw, context or {}
    optional = [column for column in table.columns if column.key not in table.always]
    least, most = table.keep
    picked = draw.some(optional, least - len(table.always), most - len(table.always))
    columns = [item for item in table.columns if item in picked or item.key in table.always]
    if not table.ordered:
        draw.random.shuffle(columns)
    rows = [
        Row(number, draw.fresh(table.draw)) for number in range(draw.random.randint(*table.size))
    ]
    if table.twice and any(column.qualifier for column in columns) and draw.maybe(0.7):
        rows[-1].name = rows[0].name
    gaps = draw.maybe(0.3)
    for column in columns:
        for row in rows:
            if gaps and column.key != table.sort and draw.maybe(0.12):
                continue
            row.values[column.key] = _value(draw, column)
    if table.sort and any(column.key == table.sort for column in columns) and draw.maybe(0.8):
        rows.sort(key=lambda row: draw.size[row.values[table.sort]])
    else:
        draw.random.shuffle(rows)
    asker = _Asker(doc, table, columns, rows, context, prefix)
    asker.ask()
    return columns, rows


def _value(draw: Draw, column: Column) -> str:
    if not column.shared:
        return draw.fresh(column.draw)
    if "|" in column.draw:
        return draw.one(column.draw.split("|"))
    method: Callable[[], str] = getattr(draw, column.draw)
    return method()


@dataclass
class _Asker:
    doc: Document
    table: Table
    columns: Sequence[Column]
    rows: Sequence[Row]
    context: Context
    prefix: str

    def key(self, row: Row, column: Column | None = None) -> str:
        return f"{self.prefix}{row.number}." + (column.key if column else "name")

    def fill(self, text: str, row: str, value: str = "") -> str:
        return filled(self.doc, text, {**self.context, "row": row}, value)

    def ask(self) -> None:
        other = self.doc.draw.fresh(self.table.draw)
        for column in self.columns:
            for row in self.rows:
                self._cell(row, column)
            self._elsewhere(other, column)
            self._inverse(column)
            self._extreme(column)
        names = [row.name for row in self.rows]
        for column in self.table.columns:
            if column not in self.columns:
                for name in self.doc.draw.some(names, 2, 2):
                    absent = tuple(split(filled(self.doc, column.label, self.context)))
                    self._in_vain(column, name, absent)

    def _in_vain(
        self, column: Column, name: str, absent: tuple[str, ...] = (), extra: str = ""
    ) -> None:
        texts = [self._with(self.fill(text, name), extra) for text in split(column.ask)]
        noun = f"{self.fill(column.noun, name)} {extra}".strip()
        self.doc.ask_in_vain(texts, noun, absent)

    @staticmethod
    def _with(question: str, extra: str) -> str:
        return f"{question.rstrip('?')} {extra}?" if extra else question

    def _qualified(self, column: Column, row: Row) -> list[tuple[str, bool]]:
        """Return qualifiers of a row by other columns; whether this row alone has them."""
        found = []
        same = [other for other in self.rows if other.name == row.name]
        for by in self.columns:
            if by.key != column.key and by.qualifier and by.key in row.values:
                value = row.values[by.key]
                alone = sum(other.values.get(by.key) == value for other in same) == 1
                found.append((self.fill(by.qualifier, row.name, value), alone))
        return found

    def _cell(self, row: Row, column: Column) -> None:
        unique = sum(other.name == row.name for other in self.rows) == 1
        qualified = self._qualified(column, row)
        if column.key not in row.values:
            if unique:
                self._in_vain(column, row.name)
            return
        texts = [self.fill(text, row.name) for text in split(column.ask)]
        noun = self.fill(column.noun, row.name)
        if unique:
            self.doc.ask(self.key(row, column), texts, noun)
        for qualifier, alone in qualified:
            if alone and (not unique or self.doc.draw.maybe(0.15)):
                asked = [self._with(text, qualifier) for text in texts]
                self.doc.ask(self.key(row, column), asked, f"{noun} {qualifier}")
        self._combination(row, column)

    def _combination(self, row: Row, column: Column) -> None:
        """Ask with a property that another row has, but none of this name."""
        for by in self.columns:
            if by.key == column.key or not by.qualifier or not self.doc.draw.maybe(0.4):
                continue
            own = [other.values.get(by.key) for other in self.rows if other.name == row.name]
            foreign = [
                other.values[by.key]
                for other in self.rows
                if by.key in other.values and other.values[by.key] not in own
            ]
            if foreign and None not in own:
                value = self.doc.draw.one(foreign)
                self._in_vain(column, row.name, (), self.fill(by.qualifier, row.name, value))

    def _elsewhere(self, other: str, column: Column) -> None:
        """Ask about a row that is not there."""
        self._in_vain(column, other, (other,))

    def _inverse(self, column: Column) -> None:
        if not column.inverse:
            return
        values = [row.values.get(column.key) for row in self.rows]
        for row in self.rows:
            value = row.values.get(column.key)
            if value and values.count(value) == 1:
                texts = [self.fill(text, "", value) for text in split(column.inverse)]
                self.doc.ask(self.key(row), texts)
        try:
            absent = self.doc.draw.fresh(column.draw)
        except LookupError:
            return
        if absent not in values:
            texts = [self.fill(text, "", absent) for text in split(column.inverse)]
            # A short value ("7") may be part of another; it is enough that no row has it.
            self.doc.ask_in_vain(texts, "", (absent,) if len(absent) > 3 else ())

    def _extreme(self, column: Column) -> None:
        size = self.doc.draw.size
        known = [row for row in self.rows if row.values.get(column.key) in size]
        if len(known) < len(self.rows):
            return
        known.sort(key=lambda row: size[row.values[column.key]])
        for wordings, row, next_to in (
            (column.low, known[0], known[1]),
            (column.high, known[-1], known[-2]),
        ):
            # Two equal values have no extreme.
            if wordings and size[row.values[column.key]] != size[next_to.values[column.key]]:
                texts = [self.fill(text, "") for text in split(wordings)]
                self.doc.ask(self.key(row), texts)


# Layouts


def _cells(
    doc: Document, columns: Sequence[Column], rows: Sequence[Row], prefix: str
) -> list[list[str]]:
    gap = doc.draw.one(NOTHING)
    return [
        [mark(f"{prefix}{row.number}.name", capital(row.name))]
        + [
            mark(f"{prefix}{row.number}.{column.key}", row.values[column.key])
            if column.key in row.values
            else gap
            for column in columns
        ]
        for row in rows
    ]


def written(
    doc: Document,
    table: Table,
    drawn: tuple[list[Column], list[Row]],
    prefix: str = "row",
    *,
    context: Context | None = None,
    layouts: str = "spaces pipes markdown tabs commas sentences blocks inline transposed",
) -> str:
    """Return the rows in one of the layouts, with headings where it has them."""
    columns, rows = drawn
    draw = doc.draw
    cells = _cells(doc, columns, rows, prefix)
    context = context or {}
    labels = [table.label.split("|"), *(split(column.label) for column in columns)]
    head = [capital(filled(doc, draw.one(label), context)) for label in labels]
    layout = draw.one(layouts.split())
    if layout == "sentences":
        return _sentences(doc, table, drawn, prefix, context)
    if layout == "blocks":
        sign = draw.one(["{}: {}", "  {}: {}", "- {}: {}", "  • {} {}"])
        return "\n\n".join(
            "\n".join(
                [row[0], *(sign.format(*pair) for pair in zip(head[1:], row[1:], strict=True))]
            )
            for row in cells
        )
    if layout == "inline":
        start = draw.one(["- {}: {}", "{} – {}", "• {} ({})", "{}: {}", "* {}, {}"])
        pair = draw.one(["{} {}", "{}: {}"])
        return "\n".join(
            start.format(
                row[0],
                draw.one([", "]).join(
                    pair.format(name.lower(), cell)
                    for name, cell in zip(head[1:], row[1:], strict=True)
                ),
            )
            for row in cells
        )
    if layout == "plain":
        # Value before name, as ingredients are listed: "250 g butter".
        start = draw.one(["- {1} {0}", "{1} {0}", "• {1} {0}", "* {0} ({1})"])
        return "\n".join(start.format(*row) for row in cells)
    grid = [head, *cells]
    if layout == "transposed":
        grid = [list(column) for column in zip(*grid, strict=True)]
        layout = draw.one(["pipes", "spaces", "markdown", "tabs"])
    return GRIDS[layout](grid)


def _sentences(
    doc: Document,
    table: Table,
    drawn: tuple[list[Column], list[Row]],
    prefix: str,
    context: Context,
) -> str:
    columns, rows = drawn
    made = []
    for row in rows:
        name = mark(f"{prefix}{row.number}.name", row.name)
        parts = [
            filled(
                doc,
                column.say,
                context,
                mark(f"{prefix}{row.number}.{column.key}", row.values[column.key]),
            )
            for column in columns
            if column.key in row.values
        ]
        if parts:
            said = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
            made.append(capital(filled(doc, table.subject, {**context, "row": name})) + f" {said}.")
        else:
            made.append(
                capital(filled(doc, table.subject, {**context, "row": name}))
                + " is on the list too."
            )
    return doc.draw.one([" ", " ", "\n"]).join(made)


def _spaces(grid: Sequence[Sequence[str]]) -> str:
    widths = [width_of(column) + 2 for column in zip(*grid, strict=True)]
    return "\n".join(
        "".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in grid
    )


def _pipes(grid: Sequence[Sequence[str]]) -> str:
    return "\n".join(" | ".join(row) for row in grid)


def _markdown(grid: Sequence[Sequence[str]]) -> str:
    widths = [max(width_of(column), 3) for column in zip(*grid, strict=True)]
    lines = [
        "| " + " | ".join(padded(c, w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in grid
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _tabs(grid: Sequence[Sequence[str]]) -> str:
    return "\n".join("\t".join(row) for row in grid)


def _commas(grid: Sequence[Sequence[str]]) -> str:
    quoted = [[f'"{c}"' if "," in unmarked(c) else c for c in row] for row in grid]
    return "\n".join(",".join(row) for row in quoted)


GRIDS: Mapping[str, Callable[[Sequence[Sequence[str]]], str]] = {
    "spaces": _spaces, "pipes": _pipes, "markdown": _markdown, "tabs": _tabs, "commas": _commas,
}  # fmt: skip
