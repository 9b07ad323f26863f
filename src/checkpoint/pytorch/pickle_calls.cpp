#include "checkpoint/pytorch/pickle.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t most_named = 10;

/// Modules of Python's library whose functions no weights need (as picklescan and fickling list).
constexpr std::string_view modules[] = {"os",
                                        "posix",
                                        "nt",
                                        "subprocess",
                                        "sys",
                                        "shutil",
                                        "socket",
                                        "pty",
                                        "runpy",
                                        "ctypes",
                                        "importlib",
                                        "imp",
                                        "code",
                                        "codeop",
                                        "commands",
                                        "asyncio",
                                        "urllib",
                                        "urllib2",
                                        "http",
                                        "httplib",
                                        "requests",
                                        "aiohttp",
                                        "ftplib",
                                        "smtplib",
                                        "webbrowser",
                                        "pickle",
                                        "_pickle",
                                        "cPickle",
                                        "marshal",
                                        "types",
                                        "inspect",
                                        "bdb",
                                        "pdb",
                                        "timeit",
                                        "trace",
                                        "multiprocessing",
                                        "threading",
                                        "signal",
                                        "site",
                                        "pip",
                                        "tempfile",
                                        "zipimport",
                                        "pkgutil",
                                        "pydoc",
                                        "doctest",
                                        "cProfile",
                                        "profile",
                                        "idlelib",
                                        "posixpath",
                                        "ntpath",
                                        "_io",
                                        "io",
                                        "fileinput",
                                        "ensurepip",
                                        "setuptools",
                                        "lib2to3",
                                        "venv",
                                        "telnetlib",
                                        "socketserver",
                                        "xmlrpc",
                                        "_posixsubprocess",
                                        "_ctypes",
                                        "_socket"};

constexpr std::string_view builtins[] = {
    "eval",    "exec",    "execfile", "compile", "open",       "input",      "getattr", "setattr",
    "delattr", "globals", "locals",   "vars",    "__import__", "breakpoint", "apply",   "file"};

/// Methods of harmless classes (pathlib.Path) that are not.
constexpr std::string_view methods[] = {
    "open",  "write_text", "write_bytes", "unlink", "rmdir",  "mkdir", "rename",    "replace",
    "chmod", "symlink_to", "hardlink_to", "touch",  "system", "popen", "read_text", "read_bytes"};

constexpr Pickle::Name others[] = {
    {"operator", "attrgetter"},  {"operator", "methodcaller"},
    {"_operator", "attrgetter"}, {"_operator", "methodcaller"},
    {"functools", "partial"},    {"torch", "load"},
    {"torch.hub", "load"},       {"numpy.testing._private.utils", "runstring"},
    {"torch.jit", "load"},       {"torch.serialization", "load"},
    {"numpy", "load"},           {"numpy", "fromfile"},
    {"pandas", "read_pickle"},   {"pandas.io.pickle", "read_pickle"},
    {"joblib", "load"},          {"torch.utils._config_module", "load_config"}};

/// Of `modules`, and harmless: values that training scripts keep.
constexpr Pickle::Name harmless[] = {{"types", "SimpleNamespace"},
                                     {"types", "MappingProxyType"},
                                     {"io", "BytesIO"},
                                     {"io", "StringIO"},
                                     {"_io", "BytesIO"},
                                     {"_io", "StringIO"}};

template <class List>
bool holds(const List& list, const auto& item) {
  return std::find(std::begin(list), std::end(list), item) != std::end(list);
}

/// "abc.sys.modules", "Path.write_text": protocol 4 follows dots from any module to another.
bool reaches_out(std::string_view attribute) {
  if (attribute.find('.') == std::string_view::npos) return false;
  std::string_view part;
  for (std::string_view rest = attribute; !rest.empty();) {
    const auto dot = std::min(rest.find('.'), rest.size());
    part = rest.substr(0, dot);
    rest.remove_prefix(std::min(dot + 1, rest.size()));
    if (holds(modules, part) || holds(builtins, part) || part.starts_with("__")) return true;
  }
  return holds(methods, part);
}

}  // namespace

bool is_dangerous(const Pickle::Name& name) {
  if (name.module.empty() || holds(harmless, name)) return false;
  if (reaches_out(name.attribute)) return true;
  if (name.module == "builtins" || name.module == "__builtin__")
    return holds(builtins, name.attribute);
  return holds(modules, name.module.substr(0, name.module.find('.'))) || holds(others, name);
}

std::vector<std::string> dangerous_calls(const Pickle& pickle) {
  std::vector<std::string> calls;
  for (const auto& value : pickle.values()) {
    if (value.kind != Pickle::Value::Kind::name || calls.size() == most_named) continue;
    const auto name = pickle.name(value);
    if (!is_dangerous(name)) continue;
    auto call = shown(name.module, 100) + "." + shown(name.attribute, 100);
    if (!holds(calls, call)) calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace ddptrain
