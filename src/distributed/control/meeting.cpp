#include "distributed/control/meeting.h"

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "distributed/c10d.h"
#include "distributed/control/rank_list.h"
#include "launch/route.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto kWorld = "world";
constexpr auto kCame = "came";  // how many ranks have; "came/3" is the number of the third
constexpr auto kComplete = "complete";
constexpr auto kOuter = "address";  // one that is no loopback address, of any node

std::string came_key(std::int64_t place) { return fmt::format("{}/{}", kCame, place); }

std::string text_at(c10d::Store& store, const std::string& key) {
  const auto bytes = store.get(key);
  return {bytes.begin(), bytes.end()};
}

bool spans_nodes(const Topology& topology) { return topology.local_world < topology.world; }

/// Nodes whose devices decide how many ranks they start may differ.
void require_same_world(c10d::Store& store, const Topology& topology) {
  const auto mine = std::to_string(topology.world);
  const auto first = store.compareSet(kWorld, std::string(), mine);
  if (first != mine)
    throw Error(Exit::device,
                "rank {} was started as one of {}, another as one of {}: give every node the same "
                "number of ranks (parallel.devices, or the launcher's own option)",
                topology.rank, mine, first);
}

/// Two runs that were started alike would count each other's ranks.
void claim_rank(c10d::Store& store, const Topology& topology) {
  if (store.add(fmt::format("rank/{}", topology.rank), 1) == 1) return;
  const auto where = topology.address.empty()
                         ? std::string()
                         : fmt::format(" at '{}:{}'", topology.address, topology.port);
  throw Error(
      Exit::device,
      "another process has come as rank {} of {}{}: two runs share a meeting point, or two "
      "processes were given one rank; give each run a port of its own (MASTER_PORT, --address)",
      topology.rank, topology.world, where);
}

/// Those that never came, after a time-out.
std::vector<int> missing_ranks(c10d::Store& store, int world) {
  std::vector<bool> came(static_cast<std::size_t>(world));
  std::vector<std::string> keys;
  const auto count = store.add(kCame, 0);
  for (std::int64_t place = 1; place <= count; ++place) keys.push_back(came_key(place));
  for (const auto& bytes : store.multiGet(keys)) {
    const auto rank = parse_integer(std::string(bytes.begin(), bytes.end())).value_or(-1);
    if (rank >= 0 && rank < world) came[static_cast<std::size_t>(rank)] = true;
  }
  std::vector<int> missing;
  for (int rank = 0; rank < world; ++rank)
    if (!came[static_cast<std::size_t>(rank)]) missing.push_back(rank);
  return missing;
}

}  // namespace

void meet(c10d::Store& store, const Topology& topology, const MeetingTime& time) {
  if (!topology.address.empty()) require_same_world(store, topology);
  claim_rank(store, topology);
  if (spans_nodes(topology))
    if (const auto own = address_towards(topology.address, topology.port);
        !own.empty() && !is_loopback(own))
      store.compareSet(kOuter, std::string(), own);
  const auto place = store.add(kCame, 1);
  store.set(came_key(place), std::to_string(topology.rank));
  if (place == topology.world) return store.set(kComplete, std::string("1"));
  try {
    const auto left = time.end - std::chrono::steady_clock::now();
    return store.wait({kComplete}, std::max(std::chrono::duration_cast<milliseconds>(left), 1ms));
  } catch (const std::exception&) {
  }
  const auto missing = missing_ranks(store, topology.world);
  if (missing.empty()) return;  // the last came as the time ended
  refuse_missing(missing, topology.world, time.limit);
}

void refuse_missing(const std::vector<int>& ranks, int world, milliseconds limit) {
  throw Error(
      Exit::device,
      "rank {} of {} did not come within {}: look at its log, or raise 'parallel.timeout.start'",
      rank_list(ranks), world, in_words(limit));
}

std::string agree_on_address(c10d::Store& store, const Topology& topology) {
  const auto own = address_towards(topology.address, topology.port);
  if (!is_loopback(own) || !store.check({kOuter})) return own;
  return address_towards(text_at(store, kOuter), topology.port);
}

}  // namespace ddptrain
