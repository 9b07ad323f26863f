#include "distributed/store.h"

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

#include "base/error.h"
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
    if (errno == EADDRINUSE)
      throw Error(
          Exit::device,
          fmt::format("rank 0 cannot serve the meeting point '{}:{}' ({}): the port is in use",
                      topology.address, topology.port, topology.named_by));
  }
  return {};
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
    throw Error(Exit::device,
                fmt::format("rank {} cannot reach the meeting point '{}:{}' within {} ({}): {}",
                            topology.rank, topology.address, topology.port, in_words(timeout),
                            topology.named_by, what.substr(0, what.find('\n'))));
  }
}

Store open_store(const Topology& topology, milliseconds timeout) {
  if (!topology.address.empty()) return tcp_store(topology, timeout);
  return c10::make_intrusive<c10d::FileStore>(topology.store + "/ranks", topology.world);
}

std::string key(int rank) { return fmt::format("here/{}", rank); }

bool has_come(c10d::Store& store, int rank, milliseconds patience) {
  if (store.check({key(rank)})) return true;
  if (patience.count() <= 0) return false;
  try {
    store.wait({key(rank)}, patience);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Nodes whose devices decide how many ranks they start may differ.
void require_same_world(c10d::Store& store, const Topology& topology) {
  const auto mine = std::to_string(topology.world);
  const auto first = store.compareSet("world", std::string(), mine);
  if (first != mine)
    throw Error(
        Exit::device,
        fmt::format("rank {} was started as one of {}, another as one of {}: give every node the "
                    "same number of ranks (parallel.devices, or the launcher's own option)",
                    topology.rank, mine, first));
}

}  // namespace

Store rendezvous(const Topology& topology, milliseconds timeout) {
  c10d::setDebugLevelFromEnvironment();
  const auto end = Clock::now() + timeout;
  // The run id keeps the keys of an earlier attempt apart: torchrun's store outlives restarts.
  const auto store = c10::make_intrusive<c10d::PrefixStore>("ddptrain/" + topology.run_id,
                                                            open_store(topology, timeout));
  store->setTimeout(timeout);
  if (!topology.address.empty()) require_same_world(*store, topology);
  store->set(key(topology.rank), std::vector<std::uint8_t>{1});
  std::string missing;
  for (int rank = 0; rank < topology.world; ++rank) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (has_come(*store, rank, left)) continue;
    missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (missing.empty()) return store;
  throw Error(Exit::device, fmt::format("rank {} of {} did not come within {}: look at its log, or "
                                        "raise 'parallel.timeout.start'",
                                        missing, topology.world, in_words(timeout)));
}

std::string agree_on_address(const Store& store, const Topology& topology) {
  const auto key_of = [](int rank) { return fmt::format("address/{}", rank); };
  const auto own = address_towards(topology.address, topology.port);
  store->set(key_of(topology.rank), std::vector<std::uint8_t>(own.begin(), own.end()));
  if (!is_loopback(own)) return own;
  for (int rank = 0; rank < topology.world; ++rank) {
    const auto bytes = store->get(key_of(rank));
    const std::string other(bytes.begin(), bytes.end());
    if (!other.empty() && !is_loopback(other)) return address_towards(other, topology.port);
  }
  return own;  // several ranks of one machine that were given several nodes
}

}  // namespace ddptrain
