"""What this package belongs to. A wheel has the values of its build here; a checkout has none and starts the `ddptrain`
on PATH."""

VERSION = ""
TORCH = ""  # of the LibTorch that the program was built with: "2.11.0"
