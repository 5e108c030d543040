"""Every message of the library, from the source: errors, warnings, and notes of commands, to be read as a whole.

    python release/messages.py [--of errors warnings notes] [FOLDER]

One line each: where it is, what it is raised as, and its words, with … for what is filled in.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parent.parent / "src" / "linsep"
#: Functions that say something on standard error.
NOTES = ("note",)


class Message(NamedTuple):
    """Where a message is, how it reaches the user, and its words."""

    place: str
    line: int
    sort: str
    name: str
    words: str


def words_of(node: ast.AST) -> str:
    """Return the words of an expression, with … for what is only known when it runs.

    Examples
    --------
    >>> words_of(ast.parse("f'C={C} must be ' + 'positive'", mode="eval").body)
    'C=… must be positive'
    """
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(words_of, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return words_of(left) + words_of(right)
        case ast.IfExp(body=body, orelse=other):
            return f"{words_of(body)} | {words_of(other)}"
    return "…"


def messages(path: Path, place: str) -> Iterator[Message]:
    """Yield the messages of a file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            name = ast.unparse(node.exc.func)
            yield Message(place, node.lineno, "errors", name, words_of(node.exc.args[0]))
        elif isinstance(node, ast.Call) and node.args:
            name = ast.unparse(node.func).rpartition(".")[2]
            if name == "warn":
                yield Message(place, node.lineno, "warnings", name, words_of(node.args[0]))
            elif name in NOTES:
                yield Message(place, node.lineno, "notes", name, words_of(node.args[0]))


def main() -> None:
    """Print the messages, file by file."""
    parser = argparse.ArgumentParser(description="Every message of the library, from the source.")
    parser.add_argument("--of", nargs="+", choices=("errors", "warnings", "notes"), help="default: all")
    parser.add_argument("folder", nargs="?", type=Path, default=SOURCE)
    asked = parser.parse_args()
    for path in sorted(asked.folder.rglob("*.py")):
        for one in messages(path, path.relative_to(asked.folder).as_posix()):
            if one.words.strip("… ") and (asked.of is None or one.sort in asked.of):
                print(f"{one.place}:{one.line}: {one.name}: {' '.join(one.words.split())}")


if __name__ == "__main__":
    main()
