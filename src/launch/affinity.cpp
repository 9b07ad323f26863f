#include "launch/affinity.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
    if (last > i) text += fmt::format("-{}", cores[last]);
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

Nearness near_device(const std::string& bus_address, const CoresByNode& usable,
                     const std::string& root) {
  Nearness near;
  const auto folder = root + "/bus/pci/devices/" + bus_address;
  if (bus_address.empty() || !fs::is_directory(folder)) return near;
  const auto read = [&](const std::string& name) {
    const auto path = folder + "/" + name;
    return fs::exists(path) ? read_text(path) : std::string();
  };
  const auto node = parse_integer(std::string(trim(read("numa_node"))));
  if (node && *node >= 0) near.node = static_cast<int>(*node);
  const auto local = read_cores(read("local_cpulist"));
  for (const auto& cores : usable)
    for (const int core : cores)
      if (std::ranges::count(local, core) > 0) near.cores.push_back(core);
  return near;
}

std::vector<int> share_of_near(const std::vector<Nearness>& ranks, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  std::size_t before = 0, all = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].cores.empty()) return {};
    if (ranks[i].cores != ranks[r].cores) continue;
    ++all;
    if (i < r) ++before;
  }
  return part_of(ranks[r].cores, before, all);
}

bool prefer_memory_of(int node) {
  constexpr int kPreferred = 1;  // MPOL_PREFERRED
  constexpr std::size_t kBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, 1024 / kBits> nodes{};
  const auto at = static_cast<std::size_t>(node);
  if (at >= 1024) return false;
  nodes[at / kBits] |= 1UL << (at % kBits);
  return ::syscall(SYS_set_mempolicy, kPreferred, nodes.data(), 1024UL) == 0;
}

void bind_to(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    throw Error(Exit::device, Option{"parallel.affinity"},
                "the system does not let this process run on cores {}: {}", to_text(cores),
                std::strerror(errno));
}

}  // namespace ddptrain
