#include "base/files/machine_memory.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// None where there is no such file.
std::vector<std::string> lines_of_kernel(const std::string& file) {
  try {
    return split(read_text(file), '\n');
  } catch (const Error&) {
    return {};
  }
}

/// The number behind `key` in a line that begins with it.
std::optional<std::int64_t> number_behind(const std::vector<std::string>& lines,
                                          std::string_view key) {
  for (const auto& line : lines) {
    if (!line.starts_with(key)) continue;
    auto number = trim(line.substr(key.size()));
    return parse_integer(number.substr(0, number.find(' ')));
  }
  return {};
}

/// The folder of this process's control group below that of all; empty where there is none.
std::string control_group(const std::string& root) {
  constexpr std::string_view mark = "0::";  // version 2
  for (const auto& line : lines_of_kernel(root + "/proc/self/cgroup"))
    if (line.starts_with(mark)) return line.substr(mark.size());
  return {};
}

/// What the limit of one control group leaves; none where it has none.
std::optional<std::int64_t> left_by(const std::string& folder) {
  const auto limit = number_behind(lines_of_kernel(folder + "/memory.max"), "");
  const auto used = number_behind(lines_of_kernel(folder + "/memory.current"), "");
  if (!limit || !used) return {};
  const auto cache = number_behind(lines_of_kernel(folder + "/memory.stat"), "inactive_file ");
  return std::max<std::int64_t>(0, *limit - *used + cache.value_or(0));
}

}  // namespace

std::optional<std::int64_t> available_memory(const std::string& root) {
  auto least = number_behind(lines_of_kernel(root + "/proc/meminfo"), "MemAvailable:");
  if (least) *least *= 1024;  // "kB"
  auto group = control_group(root);
  while (true) {
    const auto left = left_by(root + "/sys/fs/cgroup" + group);
    if (left) least = std::min(least.value_or(*left), *left);
    const auto parent = group.rfind('/');
    if (group.empty() || parent == std::string::npos) return least;
    group.resize(parent);
  }
}

}  // namespace ddptrain
