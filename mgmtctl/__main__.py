"""The entry point: what must answer at once is served before the command line is imported.

`--version` and shell completion never load Typer (architecture: start-up is a feature); everything else goes to
`cli.app`. Exit codes of signals: 130 for SIGINT, 143 for SIGTERM.
"""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code; `arguments` without the program's name."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        if given and given[0] == "--complete":
            from mgmtctl.cli.complete import complete

            code = complete(given[1:])
            if arguments is None:
                os._exit(code)  # a TAB does not wait for the interpreter to tidy up
            return code
        if given == ["--version"]:
            from mgmtctl import __version__

            sys.stdout.write(f"mgmtctl {__version__}\n")
            return 0
        from mgmtctl.cli.app import run_process
    except KeyboardInterrupt:
        return 130
    return run_process(given)


if __name__ == "__main__":
    sys.exit(main())
