#include "recipe/run_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostShown = 3;
constexpr int kMostEntries = 2000;  // that a look around reads

/// Folders in a folder, without links; reads `left` entries at most.
std::vector<std::string> folders_within(const std::string& folder, int& left) {
  std::vector<std::string> folders;
  std::error_code none;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end && left-- > 0;
       entry.increment(none))
    if (entry->is_directory(none) && !entry->is_symlink(none))
      folders.push_back((fs::path(folder) / entry->path().filename()).string());
  return folders;
}

/// The runs in a folder and in its folders, the newest numbers last.
std::vector<std::string> runs_near(const std::string& folder) {
  int left = kMostEntries;
  std::vector<std::string> runs;
  for (const auto& child : folders_within(folder, left)) {
    if (holds_run(child)) runs.push_back(child);
    for (const auto& grandchild : folders_within(child, left))
      if (holds_run(grandchild)) runs.push_back(grandchild);
  }
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;  // "9" before "10"
  });
  return runs;
}

/// Where the runs that a user means may be: in what was named, next to it, or where they are made.
std::vector<std::string> runs_around(const std::string& folder) {
  auto named = fs::path(folder).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  for (const auto& place :
       {named, named.parent_path(), named.parent_path().parent_path(), fs::path("runs")}) {
    if (place.empty() || place == "/" || place == ".") continue;
    if (auto runs = runs_near(place.string()); !runs.empty()) return runs;
  }
  return {};
}

/// The links to the newest of each name, among the folders of runs.
std::vector<std::string> newest_links(const std::vector<std::string>& runs) {
  std::vector<std::string> links;
  for (const auto& run : runs) {
    auto link = (fs::path(run).parent_path() / "latest").string();
    std::error_code none;
    if ((links.empty() || links.back() != link) && fs::exists(link, none))
      links.push_back(std::move(link));
  }
  return links;
}

std::string listing(const std::string& folder) {
  auto runs = runs_around(folder);
  if (runs.empty()) return "; there are no runs yet: 'ddptrain run RECIPE' makes one";
  const auto near = nearest(folder, newest_links(runs));
  const auto more = runs.size() > kMostShown ? runs.size() - kMostShown : 0;
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(more));
  return fmt::format("; there are {}{}{}", join(runs, ", "),
                     more > 0 ? fmt::format(" and {} more ('ddptrain runs' lists them)", more) : "",
                     did_you_mean(near));
}

}  // namespace

bool holds_run(const std::string& folder) {
  std::error_code none;
  return fs::is_regular_file(folder + "/" + kRunJson, none);
}

Error no_run_folder(const std::string& folder, Exit code) {
  std::error_code none;
  const std::string why =
      fs::exists(folder, none) ? std::string("it has no ") + kRecipeYaml : "it is not there";
  return {code, fmt::format("'{}' is not a run folder: {}; runs are runs/NAME/001 and so on, and "
                            "runs/NAME/latest is the newest{}",
                            folder, why, listing(folder))};
}

}  // namespace ddptrain
