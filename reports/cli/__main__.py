"""``python -m reports.cli``."""

from reports.cli import main

main()
