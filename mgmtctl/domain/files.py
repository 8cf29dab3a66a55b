"""Shared files: what a file of a group may be called (D 5).

Rules: one check for every name that comes from a user, a URL, a merged-file header or a backup; what it lets through
stays below the folder it is joined to, means the same on every system an agent runs on, and cannot pass for a file
that the manager reads (`agent.conf`) or writes (`merged.mg`). The folder itself is walked elsewhere, without links.
"""

from __future__ import annotations

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.groups import check_group_name, quoted

AGENT_CONF = "agent.conf"
AR_CONF = "ar.conf"
MERGED = "merged.mg"
MAX_PART = 255  # bytes of one part, what file systems hold
MAX_FILE_NAME = 255  # bytes of the whole name; merged files leave out names somewhat shorter (groups.md 2.3)
MAX_PARTS = 16


def check_file_name(text: str) -> str:
    """`text`, when it can name a shared file, relative to its group, parts joined by `/`; InvalidError (D 5)."""
    problem = file_name_problem(text)
    if problem is not None:
        raise InvalidError(f"{quoted(text)} cannot name a shared file: {problem}")
    return text


def split_target(text: str) -> tuple[str, str | None]:
    """`GROUP` or `GROUP/FILE` as its checked parts; InvalidError."""
    group, slash, name = text.partition("/")
    return check_group_name(group), check_file_name(name) if slash else None


def file_name_problem(text: str) -> str | None:
    """Why `text` cannot name a shared file, as a phrase, or None when it can."""
    if not text:
        return "it is empty"
    problem = _text_problem(text)
    if problem is not None:
        return problem
    if len(text.encode()) > MAX_FILE_NAME:
        return f"it has more than {MAX_FILE_NAME} bytes"
    if text.startswith("/"):
        return "it is absolute; write it relative to the group"
    *folders, last = text.split("/")
    if len(folders) >= MAX_PARTS:
        return f"it has more than {MAX_PARTS} parts"
    for part in folders:
        problem = _part_problem(part) or (
            "`agent.conf` is a file, not a folder" if part == AGENT_CONF else None
        )
        if problem is not None:
            return problem
    return "it ends with a slash" if not last else _part_problem(last)


def _text_problem(text: str) -> str | None:
    """What no part may hold, looked for in the whole name."""
    if text.isascii():
        if not text.isprintable():
            return "it holds a control character"
    else:
        problem = _unicode_problem(text)
        if problem is not None:
            return problem
    if "\\" in text:
        return "it holds a backslash; parts are joined by /"
    return None


def _unicode_problem(text: str) -> str | None:
    import unicodedata

    categories = set(map(unicodedata.category, text))
    if "Cs" in categories:
        return "it is not valid UTF-8"
    if "Cc" in categories:
        return "it holds a control character"
    if not categories.isdisjoint(_INVISIBLE):
        return "it holds an invisible character"
    if not unicodedata.is_normalized("NFC", text):
        return "its letters are not in composed form (Unicode NFC)"
    return None


def _part_problem(part: str) -> str | None:
    if not part:
        return "it has an empty part"
    if part in (".", ".."):
        return f"it has a part `{part}`"
    if part.startswith("."):
        return "a name with a leading dot is never sent to agents"
    if part[-1].isspace():
        return "a part ends with a blank"
    if len(part.encode()) > MAX_PART:
        return f"a part has more than {MAX_PART} bytes"
    if part[1:2] == ":" and part[0].isalpha() and part.isascii():
        return "it begins with a drive"
    if part == "*":
        return "`*` stands for every file"
    return _look_alike_problem(part)


def _look_alike_problem(part: str) -> str | None:
    """Whether some agent's file system, or a reader's eye, takes the part for a file with a meaning of its own."""
    if part == AGENT_CONF:
        return None
    plain = _plain(part)
    if plain == AGENT_CONF:
        return "it passes for `agent.conf`; write it exactly so"
    if plain.startswith(MERGED):
        return "names that begin with `merged.mg` are kept for the merged file"
    return None


def _plain(part: str) -> str:
    """What a forgiving file system makes of it: no letter case, no stream after a colon, no dot or blank at the end."""
    folded = part.casefold()
    if not part.isascii():
        import unicodedata

        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", part).casefold()).translate(
            _LOOK_ALIKES
        )
    return folded.partition(":")[0].rstrip(". ")


# Letters of other scripts that look like those of the two names (Cyrillic, Greek, Armenian, phonetic).
_LOOK_ALIKES = str.maketrans("аɑαɡցеոотсοσօϲмгԁ", "aaaggenotcooocmrd")
_INVISIBLE = frozenset({"Cf", "Zl", "Zp"})
