// Shared libraries that belong to the program and are opened only where they are needed.
#pragma once

#include <string>

namespace ddptrain {

struct Plugin {
  void* handle = nullptr;  // of dlopen, open to the end of the process; null: not opened
  bool found = false;      // the file is there
  std::string why_not;     // the loader's message
};

/// Opens `file_name` next to the program, in ../lib or ../lib/ddptrain, or where the loader looks.
/// `flags` are those of dlopen.
Plugin open_plugin(const std::string& file_name, int flags);

}  // namespace ddptrain
