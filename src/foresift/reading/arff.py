"""ARFF, the format of Weka: declared columns, dense or sparse rows."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import IO, BinaryIO, NamedTuple

from foresift.errors import InputError
from foresift.reading.cells import Column, parse_texts
from foresift.reading.delimited import require_text, text_lines
from foresift.reading.numbers import is_number
from foresift.reading.text_blocks import blocks_of_rows
from foresift.reading.text_columns import read_text_columns
from foresift.reading.unpacking import SAMPLE, Progress, ignore

__all__ = ["Arff", "Attribute"]

# A name or cell: in quotes, with backslash escapes, or up to a comma or space.
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
# Spaces after a bare cell are part of the match and stripped later; otherwise a long run of spaces would take
# quadratic time.
_CELL = re.compile(rf"\s*(?:({_QUOTED})\s*|([^\s,'\"][^,\t]*|))(?:[,\t]|$)")
_PAIR = re.compile(rf"\s*(\d{{1,9}})\s+(?:({_QUOTED})\s*|([^\s,'\"][^,]*|))(?:,|$)")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


class Attribute(NamedTuple):
    """A declared column: its name, its type (numeric, categorical, string or date) and its categories."""

    name: str
    kind: str
    categories: list[str]


class Arff:
    r"""A file in the format of Weka, seekable and called `source` in messages.

    SciPy's reader supports neither strings nor sparse rows.

    Examples
    --------
    >>> from io import BytesIO
    >>> text = b"@relation r\n@attribute 'my size' real\n@attribute kind {a, 'b c'}\n@data\n1.5,a\n?,'b c'\n"
    >>> table = Arff(BytesIO(text), "demo")
    >>> [(column.name, column.kind) for column in table.attributes], list(table.rows())
    ([('my size', 'numeric'), ('kind', 'categorical')], [['1.5', 'a'], ['?', 'b c']])
    """

    suffix, detail = ".arff", ""
    notes: Sequence[str] = ()

    def __init__(self, file: BinaryIO, source: str) -> None:
        self._file, self.source = file, source
        file.seek(0)
        self.encoding = require_text(file.read(SAMPLE), source)[0]
        self.attributes: list[Attribute] = []
        for number, line in self._lines():
            if line.lower().startswith("@attribute"):
                self.attributes.append(self._declared(line, number))
            elif line.lower().startswith("@data"):
                break
        else:
            raise InputError(f"{source} has no @data line: it is not a complete ARFF file.")
        if not self.attributes:
            raise InputError(f"{source} declares no @attribute.")

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows from the start; an omitted cell of a sparse row is 0 or the first category."""
        defaults = [column.categories[0] if column.categories else "0" for column in self.attributes]
        data = False
        for number, line in self._lines():
            if data:
                row = self._sparse(line, number, defaults) if line[0] == "{" else self._dense(line)
                if len(row) != len(defaults):
                    raise InputError(
                        f"{self.source}, line {number}: {len(row)} cells, but {len(defaults)} attributes are"
                        " declared."
                    )
                yield row
            elif line.lower().startswith("@data"):
                data = True

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.attributes]

    def columns(
        self,
        names: Sequence[str],
        text: Collection[str] = (),
        max_bytes: float = math.inf,
        progress: Progress = ignore,
    ) -> list[Column]:
        """Read columns, those in `text` as text, whatever their declared type; files of any size are read."""
        kinds = {column.name: column.kind for column in self.attributes}
        as_text = {name for name, kind in kinds.items() if kind != "numeric"} | set(text)
        read = read_text_columns(
            blocks_of_rows(self.rows),
            self.names,
            text=as_text,
            drop=kinds.keys() - set(names),
            missing={"?", ""},
            declared=True,
        )
        columns = []
        for column in read:
            kind = kinds[column.name]
            if kind == "numeric" and column.texts is not None and column.name not in text:
                odd = next(cell for cell in column.texts if not is_number(cell))
                raise InputError(f"{self.source}: {odd!r} in the numeric attribute {column.name!r}.")
            if kind in ("numeric", "categorical"):
                columns.append(replace(column, declared=kind))
            else:
                columns.append(parse_texts(column, text=column.name in text))
        return columns

    def write(self, file: IO[bytes], names: Sequence[str]) -> None:
        """Write some of the columns unchanged to a dense ARFF file."""
        kept = [j for j, column in enumerate(self.attributes) if column.name in names]
        text = io.TextIOWrapper(file, encoding=self.encoding, newline="")
        text.write("@relation foresift\n\n")
        for j in kept:
            name, kind, categories = self.attributes[j]
            what = f"{{{','.join(map(_quoted, categories))}}}" if kind == "categorical" else kind
            text.write(f"@attribute {_quoted(name)} {what}\n")
        text.write("\n@data\n")
        for row in self.rows():
            text.write(",".join(row[j] if row[j] == "?" else _quoted(row[j]) for j in kept) + "\n")
        text.detach()  # the file stays open

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of every line that is not blank or a comment."""
        try:
            for number, line in enumerate(text_lines(self._file, self.encoding, self.source), start=1):
                line = line.strip()
                if line and line[0] != "%":
                    yield number, line
        except UnicodeDecodeError as error:
            raise InputError(f"{self.source} is not {self.encoding} text: save it in UTF-8.") from error

    def _declared(self, line: str, number: int) -> Attribute:
        match = _ATTRIBUTE.fullmatch(line)
        where = f"{self.source}, line {number}"
        if not match:
            raise InputError(f"{where}: an @attribute needs a name and a type.")
        name, kind = _bare(match[1]), match[2].strip()
        if kind.startswith("{") and kind.endswith("}"):
            return Attribute(name, "categorical", self._dense(kind[1:-1]))
        word = kind.split(maxsplit=1)[0].lower() if kind else ""
        if word in ("numeric", "real", "integer"):
            return Attribute(name, "numeric", [])
        if word in ("string", "date"):
            return Attribute(name, word, [])
        raise InputError(f"{where}: attribute {name!r} has the type {kind!r}, which cannot be used.")

    def _dense(self, line: str) -> list[str]:
        if "'" not in line and '"' not in line:
            return [cell.strip() for cell in line.split("," if "," in line else None)]
        cells, at = [], 0
        while True:
            match = _CELL.match(line, at)
            if not match:
                raise InputError(
                    f"{self.source}: a quote is not closed, or not followed by a comma, in {line[:60]!r}."
                )
            cells.append(_bare(match[1] or match[2].rstrip()))
            at = match.end()
            if at == len(line) and (not match[0] or match[0][-1] not in ",\t"):
                return cells

    def _sparse(self, line: str, number: int, defaults: list[str]) -> list[str]:
        row = list(defaults)
        inner = line[1 : line.rfind("}")].strip()
        at = 0
        while at < len(inner):
            match = _PAIR.match(inner, at)
            if not match or int(match[1]) >= len(row):
                raise InputError(
                    f"{self.source}, line {number}: {inner[at : at + 40]!r} is no cell of a sparse row."
                )
            row[int(match[1])] = _bare(match[2] or match[3].rstrip())
            at = match.end()
        return row


def _bare(text: str) -> str:
    """Remove quotes and backslash escapes."""
    if len(text) < 2 or text[0] not in "'\"":
        return text
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text[1:-1])


def _quoted(text: str) -> str:
    """Quote text if necessary."""
    if re.fullmatch(r"[\w.+-]+", text):
        return text
    for char, code in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(char, code)
    return f"'{text}'"
