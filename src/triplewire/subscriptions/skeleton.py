"""Texts that differ in numbers and quoted texts only, and so have one parse tree."""

from __future__ import annotations

import re
from functools import lru_cache

from lark import Lark, Token, Tree, UnexpectedInput

LONGEST_SHARED = 2_000
"""The trees of longer texts are not kept."""
_PIECE = re.compile(
    r"""\#[^\n]* | <[^\x00-\x20<>"{}|^`\\]*> | (?:[?:]|@(?=[A-Za-z])|[^\W\d])[\w:.\-%]*
      | (?P<text>"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
      | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)""",
    re.VERBOSE,
)


class Skeleton:
    """A text with ``0`` in the place of each number and ``""`` in that of each quoted text; or the text as it is."""

    def __init__(self, text: str) -> None:
        self.constants: dict[int, str] = {}
        out, end, length = [], 0, 0
        for found in _PIECE.finditer(text) if len(text) <= LONGEST_SHARED else ():
            if found.lastgroup:
                before = text[end : found.start()]
                self.constants[length + len(before)] = found[0]
                out += [before, _stand_in(found[0])]
                length += len(before) + len(out[-1])
                end = found.end()
        self.text = "".join([*out, text[end:]])

    def own(self, token: Token) -> str:
        """What stands in the text in the place of a number or quoted text."""
        return self.constants.get(token.start_pos or 0, token)

    def offset(self, position: int) -> int:
        """Where in the text a place in the skeleton is."""
        before = (constant for start, constant in self.constants.items() if start < position)
        return position + sum(len(constant) - len(_stand_in(constant)) for constant in before)

    def tree(self, parser: Lark) -> Tree[Token] | None:
        """The parse tree, for all texts with this skeleton; None if there is none to share."""
        return _tree(parser, self.text, frozenset(self.constants)) if self.constants else None


def _stand_in(constant: str) -> str:
    return '""' if constant[0] in "\"'" else "0"


@lru_cache(maxsize=2_048)
def _tree(parser: Lark, text: str, constants: frozenset[int]) -> Tree[Token] | None:
    try:
        tree = parser.parse(text)
    except UnexpectedInput:
        return None
    tokens = list(tree.scan_values(lambda leaf: isinstance(leaf, Token) and leaf.type in ("STRING", "NUMBER")))
    are_whole = all(token in ("0", '""') for token in tokens)
    return tree if are_whole and frozenset(token.start_pos for token in tokens) == constants else None
