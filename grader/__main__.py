"""`python -m grader` is `track`, from a clone without installing."""

from __future__ import annotations

import sys

try:
    from grader.cli.commands import main
except ModuleNotFoundError as missing:
    print(
        f"error: {missing.name} is not installed for this Python.\nfix: ./track sets everything up",
        file=sys.stderr,
    )
    sys.exit(3)
except KeyboardInterrupt:
    sys.exit(130)

if __name__ == "__main__":
    main()
