"""The fields of a list: what each holds, which decides how it is compared and sorted (D 4).

Rules: this module is on the way of every list, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

TEXT = "text"
NUMBER = "number"
ID = "id"
DATE = "date"
VERSION = "version"
NAMES = "names"  # several texts

# {dotted name: one of the above}
Fields = Mapping[str, str]


class OneOf(str):
    """A TEXT that holds one of a few `values`: compared as any text, but `=` and `!=` take no other value."""

    values: tuple[str, ...]

    def __new__(cls, *values: str) -> OneOf:
        """The kind of a field with these values."""
        kind = super().__new__(cls, TEXT)
        kind.values = values
        return kind


def fold(text: str) -> str:
    """What text is compared by."""
    return text.casefold()


def shown(value: object) -> str:
    """A plain value as a reader sees it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def meant(name: str, fields: Fields) -> str:
    """A hint for a field that is not there."""
    from mgmtctl.domain.resources import closest

    near = closest(name, fields)
    return f"did you mean `{near}`?" if near else f"fields are {', '.join(fields)}"
