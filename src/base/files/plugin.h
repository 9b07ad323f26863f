// Shared libraries that belong to the program and are opened only where they are needed.
#pragma once

#include <string>

namespace ddptrain {

struct Plugin {
  void* handle = nullptr;  // of dlopen, open to the end of the process; null: not opened
  bool found = false;      // the file is there
  std::string why_not;     // the loader's message, or what is wrong with its table
};

/// The path of `file_name` next to the program, in ../lib or ../lib/ddptrain; empty where it is in
/// none of them.
std::string find_plugin(const std::string& file_name);

/// Opens that file, or the one of this name where the loader looks.
/// `flags` are those of dlopen.
Plugin open_plugin(const std::string& file_name, int flags);

/// What the function `symbol` of a plug-in returns; null where the plug-in has none.
const void* returned_by(const Plugin& plugin, const char* symbol);

/// The table of functions that a plug-in offers: what its function `Table::symbol` returns, of the
/// version `Table::current`. Null, with `why_not`, where there is none.
template <class Table>
const Table* table_of(Plugin& plugin, const std::string& file_name) {
  if (plugin.handle == nullptr) return nullptr;
  const auto* table = static_cast<const Table*>(returned_by(plugin, Table::symbol));
  if (table != nullptr && table->version == Table::current) return table;
  plugin.why_not = "'" + file_name + "' " +
                   (table ? "belongs to another version of ddptrain" : "is not ddptrain's");
  return nullptr;
}

}  // namespace ddptrain
