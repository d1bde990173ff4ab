"""Wordings for training in text files, and how two wordings are compared."""

from __future__ import annotations

import re

from .paths import DATA


def read_sections(name: str) -> dict[str, list[str]]:
    """The wordings under each heading ("= heading") of a file beside this one; "|" or a new line divides them."""
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in (DATA / name).read_text().splitlines():
        if line.startswith("= "):
            heading = line[2:]
            if heading in sections:
                raise ValueError(f"{name} has two sections {heading!r}.")
            sections[heading] = []
        elif line and not line.startswith("#"):
            sections[heading] += line.split("|")
    return sections


def plain(text: str) -> str:
    """The words alone, so that a held-out wording is not trained in other letters, stops or spelling."""
    return " ".join(re.findall(r"[\w{}]+", text.lower().replace("'s ", " is ").replace("colour", "color")))
