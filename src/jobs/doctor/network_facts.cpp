#include "jobs/doctor/network_facts.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files/files.h"
#include "base/text.h"
#include "launch/route.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kSharedMemoryOfNccl = std::int64_t{64} << 20;
constexpr std::int64_t kUsualOpenFiles = 4096;

std::string own_host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// The soft limit; -1: none.
std::int64_t limit_of(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return -1;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::string unknown_name(const Topology& topology, const std::string& own) {
  for (const auto& name : {topology.address, own})
    if (!name.empty() && !resolves(name)) return name;
  return {};
}

const NetworkFacts& scarcest(const std::vector<NetworkFacts>& ranks,
                             std::int64_t NetworkFacts::*number) {
  const auto size = [number](const NetworkFacts& facts) {
    return facts.*number < 0 ? INT64_MAX : facts.*number;
  };
  return *std::ranges::min_element(ranks, {}, size);
}

Observation shared_memory_of(const NetworkFacts& least) {
  if (least.shared_memory < 0) return {"no /dev/shm on " + least.host, "mount a tmpfs there"};
  Observation found{format_bytes(least.shared_memory) + " free in /dev/shm of " + least.host};
  if (least.shared_memory < kSharedMemoryOfNccl)
    found.advice =
        "NCCL needs more between GPUs: --shm-size=1g of a container, 'emptyDir: {medium: Memory}' "
        "of a pod";
  return found;
}

Observation open_files_of(const NetworkFacts& least) {
  if (least.open_files < 0) return {"any number open at once"};
  Observation found{
      fmt::format("{} open at once on {} (RLIMIT_NOFILE)", least.open_files, least.host)};
  if (least.open_files < kUsualOpenFiles)
    found.advice = "each rank has connections to all others: 'ulimit -n 65536'";
  return found;
}

Observation locked_memory_of(const NetworkFacts& least) {
  if (least.locked_memory < 0) return {"any amount may be locked"};
  Observation found{fmt::format("{} may be locked on {} (RLIMIT_MEMLOCK)",
                                format_bytes(least.locked_memory), least.host)};
  if (std::filesystem::exists("/dev/infiniband"))
    found.advice = "InfiniBand and EFA register buffers: 'ulimit -l unlimited'";
  return found;
}

Observation names_of(const std::vector<NetworkFacts>& ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (!ranks[rank].unknown.empty())
      return {fmt::format("'{}' is not known on {} (rank {})", ranks[rank].unknown,
                          ranks[rank].host, rank),
              "give an address instead of a name (--address), or add it to DNS or /etc/hosts"};
  return {"every host knows its own name and the rendezvous"};
}

}  // namespace

NetworkFacts network_facts(const Topology& topology) {
  NetworkFacts facts;
  facts.host = own_host_name();
  const bool one_host = topology.local_world == topology.world;
  facts.address = one_host ? "127.0.0.1" : address_towards(topology.address, topology.port);
  facts.interface = interface_of(facts.address);
  facts.unknown = unknown_name(topology, facts.host);
  const auto space = free_space("/dev/shm");
  if (space.folder == "/dev/shm") facts.shared_memory = space.bytes;
  facts.open_files = limit_of(RLIMIT_NOFILE);
  facts.locked_memory = limit_of(RLIMIT_MEMLOCK);
  return facts;
}

std::string to_line(const NetworkFacts& facts) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}", facts.host, facts.address, facts.interface,
                     facts.unknown, facts.shared_memory, facts.open_files, facts.locked_memory);
}

NetworkFacts facts_of_line(const std::string& line) {
  const auto parts = split(line, '\t');
  const auto number = [&](std::size_t i) { return parse_integer(parts.at(i)).value_or(-1); };
  return {parts.at(0), parts.at(1), parts.at(2), parts.at(3), number(4), number(5), number(6)};
}

std::vector<NamedObservation> fact_observations(const std::vector<NetworkFacts>& ranks) {
  std::vector<NamedObservation> found;
  std::set<std::string> seen;
  for (const auto& facts : ranks) {
    if (!seen.insert(facts.host + facts.address).second) continue;
    const auto here = [&](const NetworkFacts& other) {
      return other.host + other.address == facts.host + facts.address;
    };
    Observation host{fmt::format("{}: {}, address {} ({})", facts.host,
                                 plural(std::ranges::count_if(ranks, here), "rank"), facts.address,
                                 facts.interface.empty() ? "no interface" : facts.interface)};
    if (facts.address.empty()) host.advice = "no route leads from here to the rendezvous";
    found.push_back({"host", std::move(host)});
  }
  found.push_back({"names", names_of(ranks)});
  found.push_back(
      {"shared memory", shared_memory_of(scarcest(ranks, &NetworkFacts::shared_memory))});
  found.push_back({"files", open_files_of(scarcest(ranks, &NetworkFacts::open_files))});
  found.push_back(
      {"locked memory", locked_memory_of(scarcest(ranks, &NetworkFacts::locked_memory))});
  return found;
}

}  // namespace ddptrain
