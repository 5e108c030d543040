"""Damage to bytes: flips, cuts, copies, and what parsers stumble over."""

from __future__ import annotations

import random

WORDS = [
    *(b"", b"\x00", b"\xff", b"\r", b"\n\n", b'"', b'""', b",", b";", b"\t", b":", b"-", b"\xef\xbb\xbf", b"\xff\xfe"),
    *(b"nan", b"inf", b"-inf", b"1e400", b"1e-400", b"-0", b"0x1p3", b"9" * 40, b"2147483648", b"-1", b"1.2.3"),
    *(b"NULL", b"true", b"2024-02-30", b"12:61", b"1,5", b"1 000", "½".encode(), "٣".encode(), "\u202e".encode()),
    *(b"{", b"}", b"[" * 50, b"null", b"0/0", b"qid:1", b"1:1:1", b"\x80\x04\x95", b"PK\x03\x04", b"PAR1", b"ARROW1"),
]  # fmt: skip


def damaged(content: bytes, rng: random.Random, most: int = 6) -> bytes:
    """Return bytes with one to some pieces of damage."""
    for _ in range(rng.randint(1, most)):
        content = rng.choice(KINDS)(content, rng)
    return content[: 1 << 20]


def _flip(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def _byte(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])]) + content[at + 1 :]


def _cut(content: bytes, rng: random.Random) -> bytes:
    low, high = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:low] if rng.random() < 0.3 else content[:low] + content[high:]


def _copy(content: bytes, rng: random.Random) -> bytes:
    low, high = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[low : min(high, low + 4096)] * rng.choice([1, 1, 2, 20]) + content[at:]


def _word(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(WORDS) + content[at + rng.choice([0, 1, 3]) :]


def _number(content: bytes, rng: random.Random) -> bytes:
    """Overwrite a field of four or eight bytes with a number that a length should not be."""
    if len(content) < 8:
        return content
    width = rng.choice([2, 4, 8])
    value = rng.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1, rng.getrandbits(64)]) % 2 ** (
        8 * width
    )
    at = rng.randrange(len(content) - width + 1)
    return content[:at] + value.to_bytes(width, rng.choice(["little", "big"])) + content[at + width :]


KINDS = [_flip, _byte, _cut, _copy, _word, _number]
