#include "checkpoint/pickle.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t most_named = 10;

/// Modules of Python's library whose functions no weights need (as picklescan and fickling list).
constexpr std::string_view modules[] = {
    "os",         "posix",   "nt",       "subprocess", "sys",       "shutil",
    "socket",     "pty",     "runpy",    "ctypes",     "importlib", "imp",
    "code",       "codeop",  "commands", "asyncio",    "urllib",    "urllib2",
    "http",       "httplib", "requests", "aiohttp",    "ftplib",    "smtplib",
    "webbrowser", "pickle",  "_pickle",  "cPickle",    "marshal",   "types",
    "inspect",    "bdb",     "pdb",      "timeit",     "trace",     "multiprocessing",
    "threading",  "signal",  "site",     "pip",        "tempfile",  "zipimport",
    "pkgutil",    "pydoc",   "doctest",  "cProfile",   "profile",   "idlelib"};

constexpr std::string_view builtins[] = {
    "eval",    "exec",    "execfile", "compile", "open",       "input",      "getattr", "setattr",
    "delattr", "globals", "locals",   "vars",    "__import__", "breakpoint", "apply",   "file"};

constexpr Pickle::Name others[] = {
    {"operator", "attrgetter"},  {"operator", "methodcaller"},
    {"_operator", "attrgetter"}, {"_operator", "methodcaller"},
    {"functools", "partial"},    {"torch", "load"},
    {"torch.hub", "load"},       {"numpy.testing._private.utils", "runstring"},
    {"torch.jit", "load"}};

template <class List>
bool holds(const List& list, const auto& item) {
  return std::find(std::begin(list), std::end(list), item) != std::end(list);
}

bool is_dangerous(const Pickle::Name& name) {
  if (name.module == "builtins" || name.module == "__builtin__")
    return holds(builtins, name.attribute);
  return holds(modules, name.module.substr(0, name.module.find('.'))) || holds(others, name);
}

}  // namespace

std::vector<std::string> dangerous_calls(const Pickle& pickle) {
  std::vector<std::string> calls;
  for (const auto& value : pickle.values()) {
    if (value.kind != Pickle::Value::Kind::made) continue;
    const auto name = pickle.name(pickle.at(pickle.items(value)[0]));
    if (calls.size() == most_named || !is_dangerous(name)) continue;
    auto call = shown(name.module, 100) + "." + shown(name.attribute, 100);
    if (!holds(calls, call)) calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace ddptrain
