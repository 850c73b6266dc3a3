"""`python -m bench.search`."""

import sys

from bench.search.run import main

sys.exit(main(sys.argv[1:]))
