#include "distributed/control/store.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <torch/csrc/distributed/c10d/debug.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "distributed/control/meeting.h"
#include "launch/route.h"
#include "launch/shared_memory.h"

namespace ddptrain {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Addresses {
  addrinfo* list = nullptr;
  Addresses(const std::string& host, int port) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list) != 0)
      list = nullptr;
  }
  ~Addresses() {
    if (list) ::freeaddrinfo(list);
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
};

int bound_socket(const addrinfo& address) {
  const int made = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  const int yes = 1;
  ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(made, address.ai_addr, address.ai_addrlen) == 0 && ::listen(made, 2048) == 0)
    return made;
  const int reason = errno;
  ::close(made);
  errno = reason;
  return -1;
}

[[noreturn]] void refuse_port(const Topology& topology) {
  throw Error(Exit::device,
              "rank 0 cannot serve the meeting point '{}:{}' ({}): the port is in use",
              topology.address, topology.port, topology.named_by);
}

/// A socket that listens on the address which the ranks were given, and on no other. Nothing where
/// no interface of this machine has it (a service of Kubernetes, an address that is translated),
/// or where this machine alone has it although others are to come (Debian's /etc/hosts names a host
/// 127.0.1.1 on itself): then the store listens on all, as torch's own does.
std::optional<int> listener_on(const Topology& topology) {
  const Addresses addresses(topology.address, topology.port);
  const bool others_come = topology.local_world < topology.world;
  for (const auto* each = addresses.list; each; each = each->ai_next) {
    if (others_come && is_loopback(*each->ai_addr)) continue;
    const int made = bound_socket(*each);
    if (made >= 0) return made;
    if (errno == EADDRINUSE) refuse_port(topology);
  }
  return {};
}

/// The name of a pod or of a cloud's machine may be known some time after it began.
void wait_until_known(const Topology& topology, Clock::time_point end) {
  constexpr auto kPatience = std::chrono::seconds(5);
  const auto warn_at = Clock::now() + kPatience;
  bool warned = false;
  while (Addresses(topology.address, topology.port).list == nullptr) {
    if (Clock::now() >= end)
      throw Error(
          Exit::device,
          "rank {} cannot reach the meeting point '{}:{}' ({}): this machine knows no host '{}'",
          topology.rank, topology.address, topology.port, topology.named_by, topology.address);
    if (!warned && Clock::now() >= warn_at) {
      warned = true;
      log::warning("rank {} waits for the meeting point: this machine knows no host '{}' ({})",
                   topology.rank, topology.address, topology.named_by);
    }
    std::this_thread::sleep_for(milliseconds(200));
  }
}

milliseconds left_until(Clock::time_point end) {
  return std::max(std::chrono::duration_cast<milliseconds>(end - Clock::now()), milliseconds(1));
}

Store tcp_store(const Topology& topology, const MeetingTime& time) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(topology.port);
  options.isServer = topology.rank == 0 && !topology.store_is_served;
  options.waitWorkers = false;  // rendezvous() reports who is missing
  options.timeout = left_until(time.end);
  options.multiTenant = true;
  if (options.isServer) options.masterListenFd = listener_on(topology);
  try {
    return c10::make_intrusive<c10d::TCPStore>(topology.address, options);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    if (options.isServer && what.find("EADDRINUSE") != std::string::npos) refuse_port(topology);
    throw Error(Exit::device, "rank {} cannot reach the meeting point '{}:{}' within {} ({}): {}",
                topology.rank, topology.address, topology.port, in_words(time.limit),
                topology.named_by, what.substr(0, what.find('\n')));
  }
}

/// The run and its start that rank 0 serves, in the store of all runs that come there.
constexpr auto kServes = "ddptrain serves";
constexpr auto kServesStart = "ddptrain serves start";

struct Served {
  std::string run;
  std::int64_t start = 0;
};

std::string text_of(c10d::Store& store, const char* key) {
  const auto bytes = store.get(key);
  return {bytes.begin(), bytes.end()};
}

Served serve(c10d::Store& store, const Topology& topology) {
  store.set(kServesStart, std::to_string(topology.start));
  store.set(kServes, topology.run_id);
  return {topology.run_id, topology.start};
}

/// What rank 0 serves; nothing where its store ended meanwhile.
std::optional<Served> served_by(const Topology& topology, c10d::Store& store) {
  try {
    if (topology.rank == 0) return serve(store, topology);
    auto run = text_of(store, kServes);
    return Served{std::move(run), parse_integer(text_of(store, kServesStart)).value_or(0)};
  } catch (const std::exception&) {
    if (topology.rank == 0) throw;
    return {};
  }
}

[[noreturn]] void refuse_store(const Topology& topology, const std::string& why) {
  throw Error(Exit::device, "rank {}: the meeting point '{}:{}' ({}) {}", topology.rank,
              topology.address, topology.port, topology.named_by, why);
}

/// A store and the start of the run that meets in it.
struct Meeting {
  Store store;
  std::int64_t start = 1;
};

/// The store behind an address; where rank 0 serves it, that of this start of the run or of a later
/// one. Rank 0 of the start before may still wait for its ranks to leave, and ends then.
Meeting store_of_run(const Topology& topology, const MeetingTime& time) {
  wait_until_known(topology, time.end);
  while (true) {
    auto store = tcp_store(topology, time);
    store->setTimeout(left_until(time.end));
    if (topology.store_is_served) return {store, topology.start};
    const auto served = served_by(topology, *store);
    if (served && served->run != topology.run_id)
      refuse_store(topology, "serves another run; give each run a port of its own");
    if (served && served->start >= topology.start) return {store, served->start};
    if (Clock::now() >= time.end)
      refuse_store(topology,
                   fmt::format("had no start of rank 0 to join within {}: look at its log",
                               in_words(time.limit)));
    std::this_thread::sleep_for(milliseconds(200));
  }
}

Meeting open_store(const Topology& topology, const MeetingTime& time) {
  if (!topology.address.empty()) return store_of_run(topology, time);
  return {c10::make_intrusive<c10d::FileStore>(topology.store + "/ranks", topology.world),
          topology.start};
}

/// The keys of this start of the run. torchrun's store outlives its ranks, which it starts again
/// under the same restart count where a node was lost or came: all have come as often then.
std::string keys_of_start(c10d::Store& store, const Topology& topology, std::int64_t start) {
  const auto keys = fmt::format("ddptrain/{}/start {}", topology.run_id, start);
  if (!topology.store_is_served) return keys;
  const auto place = fmt::format("{}/{} of {}", keys, topology.rank, topology.world);
  return fmt::format("{}/{} ranks/{}", keys, topology.world, store.add(place, 1));
}

}  // namespace

Store rendezvous(const Topology& topology, milliseconds timeout) {
  c10d::setDebugLevelFromEnvironment();
  const MeetingTime time{Clock::now() + timeout, timeout};
  const auto [all, start] = open_store(topology, time);
  if (topology.came_to) topology.came_to->set(start);
  const auto store =
      c10::make_intrusive<c10d::PrefixStore>(keys_of_start(*all, topology, start), all);
  store->setTimeout(timeout);
  meet(*store, topology, time);
  return store;
}

}  // namespace ddptrain
