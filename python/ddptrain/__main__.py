"""python -m ddptrain: the program."""

from ._program import main

main()
