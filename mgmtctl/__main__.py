"""The entry point: what must answer at once is served before the command line is imported.

`--version` and shell completion never load Typer (architecture: start-up is a feature); everything else goes to
`cli.app`. Exit codes of signals: 130 for SIGINT, 143 for SIGTERM.
"""

from __future__ import annotations

import gc
import os
import sys

# Start-up makes some ten thousand objects that all stay; to look for cycles among them is time lost.
OBJECTS_BEFORE_COLLECTING = 100_000


def main(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code; `arguments` without the program's name."""
    given = sys.argv[1:] if arguments is None else arguments
    if arguments is None:
        gc.set_threshold(OBJECTS_BEFORE_COLLECTING)
    try:
        if given and given[0] == "--complete":
            from mgmtctl.cli.complete import complete

            code = complete(given[1:])
            if arguments is None:
                os._exit(code)  # a TAB does not wait for the interpreter to tidy up
            return code
        if given == ["--version"]:
            from mgmtctl import __version__

            return _say(f"mgmtctl {__version__}\n")
        from mgmtctl.cli.app import run_process
    except KeyboardInterrupt:
        return 130
    return run_process(given)


def _say(text: str) -> int:
    """Write to stdout: 0, also when whoever reads has gone; 74 when it cannot be written."""
    if sys.stdout is None:
        return 74
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What could not be written is not tried again at the interpreter's end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0 if isinstance(error, BrokenPipeError) else 74
    return 0


if __name__ == "__main__":
    sys.exit(main())
