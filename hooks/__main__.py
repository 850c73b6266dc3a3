"""Entry point of `python -m hooks`."""

import gc

from hooks.cli import main

# A command is a process: what it makes, it keeps to the end. Looking for garbage among ten thousand
# notes again and again takes a third of the time of a check that knows them.
gc.set_threshold(100_000, 50, 1000)
main(prog_name="python -m hooks")
