#include "launch/affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNodes = "/sys/devices/system/node";

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

/// The files that list the cores of a node, by the nodes' numbers.
std::vector<fs::path> node_lists() {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(kNodes, failed)) {
    const auto name = entry.path().filename().string();
    const auto number = name.starts_with("node") ? parse_integer(name.substr(4)) : std::nullopt;
    if (number) found.emplace_back(static_cast<int>(*number), entry.path() / "cpulist");
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> lists;
  for (auto& [number, path] : found) lists.push_back(std::move(path));
  return lists;
}

/// Part `index` of `parts` contiguous ones.
std::vector<int> part_of(const std::vector<int>& cores, std::size_t index, std::size_t parts) {
  const auto n = cores.size();
  const auto first = index * n / parts, last = (index + 1) * n / parts;
  if (first == last) return {cores[index % n]};
  return {cores.begin() + static_cast<std::ptrdiff_t>(first),
          cores.begin() + static_cast<std::ptrdiff_t>(last)};
}

}  // namespace

std::vector<int> read_cores(std::string_view text) {
  std::vector<int> cores;
  for (const auto& item : split(std::string(trim(text)), ',')) {
    const auto dash = item.find('-');
    const auto first = parse_integer(item.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_integer(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= CPU_SETSIZE) return {};
    for (auto core = *first; core <= *last; ++core) cores.push_back(static_cast<int>(core));
  }
  return cores;
}

std::string to_text(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    auto last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cores[i]);
    if (last > i) text += "-" + std::to_string(cores[last]);
    i = last + 1;
  }
  return text;
}

CoresByNode usable_cores() {
  const auto allowed = allowed_cores();
  CoresByNode nodes;
  std::size_t placed = 0;
  for (const auto& list : node_lists()) {
    std::vector<int> usable;
    for (const int core : read_cores(read_text(list.string())))
      if (std::binary_search(allowed.begin(), allowed.end(), core)) usable.push_back(core);
    placed += usable.size();
    if (!usable.empty()) nodes.push_back(std::move(usable));
  }
  return placed == allowed.size() ? nodes : CoresByNode{allowed};
}

std::vector<int> share_of_cores(const CoresByNode& nodes, int rank, int ranks) {
  DDP_CHECK(!nodes.empty() && rank >= 0 && rank < ranks, "a rank of a machine with cores");
  const auto r = static_cast<std::size_t>(rank), all = static_cast<std::size_t>(ranks);
  const auto n = nodes.size();
  if (all <= n) {
    std::vector<int> cores;
    for (auto node = r * n / all; node < (r + 1) * n / all; ++node)
      cores.insert(cores.end(), nodes[node].begin(), nodes[node].end());
    return cores;
  }
  const auto node = r * n / all;
  const auto first = (node * all + n - 1) / n, next = ((node + 1) * all + n - 1) / n;
  return part_of(nodes[node], r - first, next - first);
}

void bind_to(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    throw Error(Exit::device, Option{"parallel.affinity"},
                "the system does not let this process run on cores " + to_text(cores) + ": " +
                    std::strerror(errno));
}

}  // namespace ddptrain
