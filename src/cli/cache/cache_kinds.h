// What the program keeps outside of run folders, by kind: where it lies, how much it is, and
// deleting it without harm to a running process.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// A file, or a folder with all that is in it.
struct KeptItem {
  std::string path;
  std::string lock;  // the FileLock under which it is written; empty: none
};

struct CacheKind {
  std::string_view name;
  std::string_view what;
  std::string_view again;            // what makes it again
  bool when_needed = false;          // so does a run that needs it, without being asked
  std::string (*place)() = nullptr;  // the folder or file that a person is shown
  std::vector<KeptItem> (*items)() = nullptr;
  std::vector<std::string> (*locks)() = nullptr;  // empty files of FileLock
};

/// In the order of `ddptrain cache`.
const std::vector<CacheKind>& cache_kinds();

struct KeptAmount {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::time_t used = 0;  // the newest time of reading or writing; 0 without files

  void add(const KeptAmount& other);
};

/// Errors (Exit::data) name a folder that cannot be read, or a file that cannot be removed.
KeptAmount kept(const CacheKind& kind);

struct ClearedKind {
  KeptAmount removed;
  KeptAmount in_use;
  std::string user;  // which process uses what stays, where that is known: "process 4711"
};

/// Deletes what no process uses.
ClearedKind clear(const CacheKind& kind);

/// What lies in the cache folder and belongs to no kind; `clear` does not touch it.
KeptAmount kept_by_others();

}  // namespace ddptrain
