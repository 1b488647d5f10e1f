"""Texts that differ in names, numbers and quoted texts only, and so have one parse tree."""

from __future__ import annotations

import re
from functools import lru_cache

from lark import Lark, Token, Tree, UnexpectedInput

LONGEST_SHARED = 2_000
"""The trees of longer texts are not kept."""
_STAND_INS = {"text": '""', "number": "0", "variable": "?x", "name": "x:x", "iri": "<x:x>"}
# What a name begins with is a keyword to the grammars if it can be one, so such a name is not taken for one here.
_PIECE = re.compile(
    r"""\#[^\n]* | (?P<iri><[^\x00-\x20<>"{}|^`\\]*>) | (?P<variable>\?\w+)
      | (?!(?i:and|or|not|in|true|false|exists|startswith|endswith|contains|matches)\b)
        (?P<name>(?:[A-Za-z][\w\-]*)?:\w[\w\-]*)(?![\w:.\-%])
      | (?:[?:]|@(?=[A-Za-z])|[^\W\d])[\w:.\-%]*
      | (?P<text>"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
      | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)""",
    re.VERBOSE,
)


class Skeleton:
    """A text with the same word in the place of each name, number and so on; or the text as it is."""

    def __init__(self, text: str) -> None:
        self.replaced: dict[int, str] = {}
        """What stands in the text in the places of stand-ins, by where these begin."""
        out: list[str] = []
        end = length = 0
        for found in _PIECE.finditer(text) if len(text) <= LONGEST_SHARED else ():
            if (kind := found.lastgroup) is not None:
                start, stand_in = found.start(), _STAND_INS[kind]
                length += start - end
                self.replaced[length] = found[0]
                out += (text[end:start], stand_in)
                length += len(stand_in)
                end = found.end()
        self.text = "".join([*out, text[end:]])

    def own(self, token: Token) -> str:
        """What stands in the text in a token's place."""
        return self.replaced.get(token.start_pos or 0, token)

    def offset(self, position: int) -> int:
        """Where in the text a place in the skeleton is."""
        before = ((start, own) for start, own in self.replaced.items() if start < position)
        return position + sum(len(own) - len(_stand_in_at(self.text, start)) for start, own in before)

    def tree(self, parser: Lark) -> Tree[Token] | None:
        """The parse tree, for all texts with this skeleton; None if there is none to share."""
        return _tree(parser, self.text, tuple(self.replaced)) if self.replaced else None


def _stand_in_at(text: str, start: int) -> str:
    return next(word for word in _STAND_INS.values() if text.startswith(word, start))


@lru_cache(maxsize=2_048)
def _tree(parser: Lark, text: str, replaced: tuple[int, ...]) -> Tree[Token] | None:
    """The tree, if every stand-in is one token of it: then what it stands for is one in the text itself."""
    try:
        tree = parser.parse(text)
    except UnexpectedInput:
        return None
    tokens = {leaf.start_pos: leaf for leaf in tree.scan_values(lambda leaf: isinstance(leaf, Token))}
    are_whole = all(tokens.get(start) == _stand_in_at(text, start) for start in replaced)
    return tree if are_whole else None
