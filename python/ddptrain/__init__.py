"""Training deep-learning models from a YAML recipe, with a native program that this package starts.

run(recipe, **overrides)    starts a run and returns a handle
load_run(folder)            reads what a run left: metrics, curves, report
%load_ext ddptrain          in a notebook: then a cell that begins with %%ddptrain is a recipe
"""

# What is imported here runs before the program starts, so modules load when a name is first used.
_HOMES = {"run": "_training", "Training": "_training", "load_run": "_runs", "Run": "_runs"}
__all__ = sorted(_HOMES)


def __getattr__(name):
    from importlib import import_module

    if name == "__version__":
        return import_module("._build", __name__).VERSION
    if name in _HOMES:
        return getattr(import_module("." + _HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell):
    from ._magic import train_cell

    shell.register_magic_function(train_cell, "cell", "ddptrain")
