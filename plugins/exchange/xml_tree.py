"""XML of unknown origin as a small tree with line numbers, within limits and without DTDs.

A document type declaration is refused, so no entity of the file's own can be expanded; depth,
elements and attributes are limited.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from cchybrid.model.errors import InputError

from .lines import OnLine

MAX_DEPTH = 16
"""Levels of elements in each other."""
MAX_ELEMENTS = 1_000_000
"""Elements of a file."""
MAX_ATTRIBUTES = 64
"""Attributes of an element."""
MAX_DIGITS = 9
"""Digits of a whole number in an attribute."""


@dataclass
class Element(OnLine):
    """An element: its name, attributes, line in the file, and inner elements; no text."""

    name: str
    attributes: dict[str, str]
    line: int
    inner: "list[Element]" = field(default_factory=list)

    def named(self, *names: str) -> "Iterator[Element]":
        """Yield the inner elements of one of these names, in order."""
        return (each for each in self.inner if each.name in names)

    def refuse_unknown(self, known: dict[str, tuple[str, str]]) -> None:
        """Raise an ``InputError`` for an attribute or inner element, at any depth, without meaning.

        ``known`` has by name of an element its attributes and inner elements, separated by spaces.
        """
        attributes, inner = (names.split() for names in known[self.name])
        found = [(self, "attribute", key, attributes) for key in self.attributes]
        found += [(each, "element", each.name, inner) for each in self.inner]
        for element, kind, name, names in found:
            if name not in names:
                what = f"unknown {kind} {name[:40]!r} in <{self.name}>"
                raise element.error(what, f"known: {', '.join(names) or 'none'}")
        for each in self.inner:
            each.refuse_unknown(known)

    def number(self, key: str, default: int | None = None) -> int:
        """Return a whole number among the attributes.

        Raises
        ------
        InputError
            It is missing and has no default, or is none; with the line.
        """
        text = self.attributes.get(key)
        if text is None:
            if default is None:
                raise self.error(f"<{self.name}> has no {key}", "add it")
            return default
        if re.fullmatch(rf"\s*-?[0-9]{{1,{MAX_DIGITS}}}\s*", text, re.ASCII) is None:
            raise self.error(
                f"{key}={text[:40]!r} is no whole number",
                f"write one up to {10**MAX_DIGITS - 1:,}, in digits only",
            )
        return int(text)

    def numbers(self, key: str) -> tuple[int, ...]:
        """Return the whole numbers of an attribute, separated by spaces; none if it is missing."""
        words = self.attributes.get(key, "").split()
        if not all(word.isascii() and word.isdigit() and len(word) <= MAX_DIGITS for word in words):
            text = self.attributes[key][:40]
            raise self.error(f"{key}={text!r} is no list of numbers", "separate them by spaces")
        return tuple(map(int, words))


def parse_xml(text: str) -> Element:
    """Return the root element of an XML text.

    Raises
    ------
    InputError
        The text is no well-formed XML, has a document type declaration, or exceeds a limit.
    """
    parser = expat.ParserCreate()
    stack: list[Element] = []
    roots: list[Element] = []
    count = 0

    def refuse(what: str, hint: str) -> InputError:
        return InputError(what, where=f"line {parser.CurrentLineNumber}", hint=hint)

    def refuse_doctype(*_: object) -> None:
        raise refuse("a document type declaration (DTD)", "remove it; it can expand without end")

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if len(stack) >= MAX_DEPTH:
            raise refuse(f"more than {MAX_DEPTH} levels of elements", "flatten the file")
        if count > MAX_ELEMENTS:
            raise refuse(f"more than {MAX_ELEMENTS:,} elements", "audit a smaller file")
        if len(attributes) > MAX_ATTRIBUTES:
            raise refuse(f"more than {MAX_ATTRIBUTES} attributes", "remove some")
        element = Element(name, attributes, parser.CurrentLineNumber)
        (stack[-1].inner if stack else roots).append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.EntityDeclHandler = refuse_doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(text.encode(), True)
    except LookupError as error:  # its declaration names an unknown encoding
        raise InputError(f"no XML: {error}", hint="write it in UTF-8") from None
    except expat.ExpatError as error:
        raise InputError(
            f"not well-formed XML: {expat.ErrorString(error.code)}",
            where=f"line {error.lineno}, column {error.offset + 1}",
            hint="correct the file there",
        ) from None
    return roots[0]
