"""`python -m sliders`: the command line."""

from sliders.cli import main

main()
