"""`python -m dpcore.cli`, where the console script is not on the path."""

import sys

from dpcore.cli import main

sys.exit(main())
