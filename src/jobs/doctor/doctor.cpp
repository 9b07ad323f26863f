// `doctor`: what this machine has for training, and what to do about what it lacks.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/program.h"
#include "jobs/doctor/network.h"
#include "launch/topology.h"
#include "sources/text/text_cache.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMuchDisk = std::int64_t{5} << 30;
constexpr std::int64_t kMuchSharedMemory = std::int64_t{64} << 20;
constexpr rlim_t kManyFiles = 1024;

/// What the kernel says of itself; one empty line where it does not.
std::vector<std::string> lines_of(const std::string& file) {
  try {
    return split(read_text(file), '\n');
  } catch (const Error&) {
    return {""};
  }
}

std::string first_line_of(const std::string& file) { return lines_of(file).front(); }

std::string bytes_text(std::uintmax_t bytes) {
  return format_bytes(static_cast<std::int64_t>(bytes));
}

Observation program() { return {"ddptrain " + version() + " with torch " + torch_version()}; }

/// The share of a cgroup ("200000 100000" is two cores), nothing where there is no limit.
std::optional<double> allowed_cores() {
  const auto words = split(first_line_of("/sys/fs/cgroup/cpu.max"), ' ');
  if (words.size() != 2) return {};
  const auto quota = parse_number(words[0]), period = parse_number(words[1]);
  if (!quota || !period || *period <= 0) return {};
  return *quota / *period;
}

Observation threads() {
  const auto cores = std::thread::hardware_concurrency();
  Observation found{plural(cores, "hardware thread")};
  if (const auto allowed = allowed_cores(); allowed && *allowed < cores) {
    found.text += ", of which the container may use " + format_number(*allowed);
    found.advice =
        "write train.threads and data.loader.workers: ranks on the CPU take all threads they see";
  }
  return found;
}

/// A number of kB of /proc/meminfo, in bytes.
std::uintmax_t memory_line(const std::string& name) {
  for (const auto& line : lines_of("/proc/meminfo"))
    if (line.starts_with(name + ":"))
      return 1024 * std::strtoull(line.c_str() + name.size() + 1, nullptr, 10);
  return 0;
}

Observation memory() {
  const auto all = memory_line("MemTotal"), free = memory_line("MemAvailable");
  Observation found{fmt::format("{}, {} available", bytes_text(all), bytes_text(free))};
  if (free < all / 10) found.advice = "other programs take nearly all of it; end some of them";
  if (const auto limit = parse_integer(first_line_of("/sys/fs/cgroup/memory.max")))
    found.text += "; the container may use " + bytes_text(static_cast<std::uintmax_t>(*limit));
  return found;
}

Observation shared_memory() {
  const auto space = free_space("/dev/shm");
  if (space.folder != "/dev/shm")
    return {"no /dev/shm", "NCCL needs it between GPUs; mount a tmpfs there"};
  Observation found{format_bytes(space.bytes) + " free in /dev/shm"};
  if (space.bytes < kMuchSharedMemory)
    found.advice = "NCCL needs more between GPUs; a container gets it by --shm-size=1g";
  return found;
}

Observation files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  Observation found{limit.rlim_cur == RLIM_INFINITY
                        ? "any number open at once"
                        : fmt::format("{} open at once", limit.rlim_cur)};
  if (limit.rlim_cur < kManyFiles)
    found.advice = "many ranks and loading threads may need more: 'ulimit -n 4096'";
  return found;
}

Observation disk(const fs::path& folder, const std::string& what) {
  const auto space = free_space((fs::absolute(folder) / "").lexically_normal().parent_path());
  const auto& there = space.folder;
  if (!space.unknown.empty())
    return {fmt::format("cannot look at '{}': {}", there, space.unknown), "write another folder"};
  Observation found{fmt::format("{} free for {} ({})", format_bytes(space.bytes), what, there)};
  if (::access(there.c_str(), W_OK) != 0)
    found.advice = "it cannot be written; choose another folder, or change its rights";
  else if (space.bytes < kMuchDisk)
    found.advice = "little; 'ddptrain plan RECIPE' tells what checkpoints need";
  return found;
}

Observation launcher() {
  try {
    const auto topology = topology_from_environment();
    if (!topology.joined()) return {"none around this shell; ddptrain starts its ranks itself"};
    if (topology.is_node)
      return {fmt::format("this is node {} of {}, and starts the ranks of its node", topology.rank,
                          topology.world)};
    return {
        fmt::format("this is rank {} of {} of another launcher", topology.rank, topology.world)};
  } catch (const Error& error) {
    return {error.what(),
            "a half-set environment, or one of several nodes: unset what another launcher left, or "
            "set the rest"};
  }
}

Observation data_folder() {
  const char* folder = std::getenv("DDPTRAIN_DATA");
  if (!folder) return {"DDPTRAIN_DATA is not set; recipes look in ../data"};
  Observation found{std::string("DDPTRAIN_DATA=") + folder};
  if (!fs::is_directory(folder)) found.advice = "there is no such folder";
  return found;
}

std::vector<NamedObservation> findings() {
  std::vector<NamedObservation> all{
      {"program", program()}, {"threads", threads()}, {"memory", memory()}};
  for (auto& each : device_observations()) all.push_back(std::move(each));
  all.push_back({"shared memory", shared_memory()});
  all.push_back({"files", files()});
  all.push_back({"runs", disk(".", "runs in this folder")});
  all.push_back({"texts", disk(default_text_cache(), "packed texts")});
  all.push_back({"temporary", disk(fs::temp_directory_path(), "temporary files")});
  all.push_back({"launcher", launcher()});
  all.push_back({"data", data_folder()});
  return all;
}

void require_network(const Arguments& arguments) {
  for (const auto& flag : {kNetworkDevices, kNodes, kNodeRank, kAddress})
    if (arguments.has(flag.name))
      throw Error(Exit::recipe, "{} is for 'doctor --network'", flag.name);
}

int doctor(const Arguments& arguments) {
  if (arguments.has(kNetwork.name)) return examine_network(arguments);
  require_network(arguments);
  const int advised = print_observations(findings());
  print_shown("\n%s\n",
              advised == 0 ? "nothing to do" : (plural(advised, "thing") + " to look at").c_str());
  return 0;
}

}  // namespace

Verb doctor_verb() {
  return {.name = "doctor",
          .usage = "",
          .summary = "what this machine has for training, and what to do about what it lacks",
          .flags = {kNetwork, kNetworkDevices, kNodes, kNodeRank, kAddress},
          .max_words = 0,
          .run = doctor};
}

}  // namespace ddptrain
