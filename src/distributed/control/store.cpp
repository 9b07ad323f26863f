#include "distributed/control/store.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <torch/csrc/distributed/c10d/debug.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <cerrno>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/output/log.h"
#include "distributed/control/meeting.h"
#include "launch/route.h"

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

Store tcp_store(const Topology& topology, milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(topology.port);
  options.isServer = topology.rank == 0 && !topology.store_is_served;
  options.waitWorkers = false;  // rendezvous() reports who is missing
  options.timeout = timeout;
  options.multiTenant = true;
  if (options.isServer) options.masterListenFd = listener_on(topology);
  try {
    return c10::make_intrusive<c10d::TCPStore>(topology.address, options);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    if (options.isServer && what.find("EADDRINUSE") != std::string::npos) refuse_port(topology);
    throw Error(Exit::device, "rank {} cannot reach the meeting point '{}:{}' within {} ({}): {}",
                topology.rank, topology.address, topology.port, in_words(timeout),
                topology.named_by, what.substr(0, what.find('\n')));
  }
}

/// Which start of a run rank 0 serves, in the store of all runs that come there.
constexpr auto kServes = "ddptrain serves";

/// As far as starts of one run have it in common.
std::string run_of(const std::string& run_id) {
  return run_id.substr(0, run_id.find(kRestartMark));
}

std::string served_run(c10d::Store& store, const Topology& topology) {
  if (topology.rank == 0) store.set(kServes, topology.run_id);
  const auto served = store.get(kServes);
  return {served.begin(), served.end()};
}

/// The store behind an address; where rank 0 serves it, that of this start of the run. Rank 0 of
/// the start before may still wait for its ranks to leave.
Store store_of_run(const Topology& topology, milliseconds timeout) {
  const auto end = Clock::now() + timeout;
  wait_until_known(topology, end);
  while (true) {
    auto store = tcp_store(topology, timeout);
    store->setTimeout(timeout);
    if (topology.store_is_served) return store;
    const auto served = served_run(*store, topology);
    if (served == topology.run_id) return store;
    if (run_of(served) != run_of(topology.run_id) || Clock::now() >= end)
      throw Error(Exit::device,
                  "rank {}: the meeting point '{}:{}' ({}) serves another run; give each run a "
                  "port of its own",
                  topology.rank, topology.address, topology.port, topology.named_by);
    std::this_thread::sleep_for(milliseconds(200));
  }
}

Store open_store(const Topology& topology, milliseconds timeout) {
  if (!topology.address.empty()) return store_of_run(topology, timeout);
  return c10::make_intrusive<c10d::FileStore>(topology.store + "/ranks", topology.world);
}

/// The keys of this start of the run. torchrun's store outlives its ranks, which it starts again
/// under the same restart count where a node was lost or came: all have come as often then.
std::string keys_of_start(c10d::Store& store, const Topology& topology) {
  const auto keys = fmt::format("ddptrain/{}", topology.run_id);
  if (!topology.store_is_served) return keys;
  const auto place = fmt::format("{}/{} of {}", keys, topology.rank, topology.world);
  return fmt::format("{}/{} ranks/{}", keys, topology.world, store.add(place, 1));
}

}  // namespace

Store rendezvous(const Topology& topology, milliseconds timeout) {
  c10d::setDebugLevelFromEnvironment();
  const auto end = Clock::now() + timeout;
  const auto all = open_store(topology, timeout);
  const auto store = c10::make_intrusive<c10d::PrefixStore>(keys_of_start(*all, topology), all);
  store->setTimeout(timeout);
  meet(*store, topology, {end, timeout});
  return store;
}

}  // namespace ddptrain
