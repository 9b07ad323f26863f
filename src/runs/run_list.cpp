#include "runs/run_list.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "recipe/run_folders.h"
#include "runs/run_record.h"
#include "runs/sweep_results.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4;

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> folders;
  std::error_code none;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end;
       entry.increment(none))
    if (entry->is_directory(none) && !entry->is_symlink(none))
      folders.push_back(entry->path().string());
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;  // "9" before "10"
  });
  return folders;
}

RunsFolder sweep_in(const std::string& folder) {
  RunsFolder sweep{folder, {}, true};
  for (auto& run : folders_in(folder))
    if (is_run(run)) sweep.runs.push_back(std::move(run));
  return sweep;
}

void find(const std::string& folder, int depth, std::vector<RunsFolder>& found) {
  if (is_sweep(folder)) return found.push_back(sweep_in(folder));
  if (is_run(folder)) return found.push_back({folder, {}, false});
  if (depth == 0) return;
  for (const auto& inner : folders_in(folder)) find(inner, depth - 1, found);
}

}  // namespace

std::vector<RunsFolder> find_runs(const std::string& root) {
  if (!fs::is_directory(root)) throw no_run_folder(root);
  std::vector<RunsFolder> found;
  find(root, kDeepest, found);
  return found;
}

}  // namespace ddptrain
