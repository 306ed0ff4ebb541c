"""`python -m scalograph`."""

from scalograph.cli.main import main

main()
