// The only file that sees gloo: Debian's headers, LibTorch's own copy of the library.
#include <ATen/ops/zeros.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <cstdlib>
#include <mutex>
#include <vector>

#include "accelerator/process_group.h"

namespace ddptrain {
namespace {

// torch's flight recorder keeps the last 2,000 collectives of a process in a table that groups of
// several threads corrupt (2.11: its map of names is written before the lock is taken). It is
// unused here; the environment can enable it again.
void leave_out_flight_recorder() {
  static std::once_flag once;
  std::call_once(once, [] { ::setenv("TORCH_FR_BUFFER_SIZE", "0", 0); });
}

constexpr int kMostConnected = 64;  // ranks; docs/decisions/many-ranks.md

/// Of many ranks, each connects to those with which it exchanges data, not to every other.
/// TORCH_GLOO_LAZY_INIT=0 or 1 decides otherwise.
bool connects_lazily(const BackendOptions& options) {
  if (std::getenv("TORCH_GLOO_LAZY_INIT")) return c10d::getDefaultGlooLazyInit();
  return options.size > kMostConnected;
}

/// Connects those that sums, broadcasts from rank 0 and barriers use, while the time for the start
/// runs: a connection to a rank that hangs takes five times as long as a collective may.
void connect_neighbors(c10d::ProcessGroupGloo& group) {
  std::vector<at::Tensor> numbers{at::zeros({group.getSize()})};
  group.allreduce(numbers)->wait();
  group.broadcast(numbers)->wait();
  group.barrier()->wait();
}

/// By address: the host name may resolve to an outer one that a firewall guards, or to the loopback
/// address, which other nodes cannot reach. GLOO_SOCKET_IFNAME chooses the interface, as in torch.
std::shared_ptr<gloo::transport::Device> device_of(const BackendOptions& options) {
  using c10d::ProcessGroupGloo;
  const bool lazy = connects_lazily(options);
  if (options.loopback) return ProcessGroupGloo::createDeviceForHostname("127.0.0.1", lazy);
  const char* named = std::getenv("GLOO_SOCKET_IFNAME");
  if (named && *named) return ProcessGroupGloo::createDeviceForInterface(named, lazy);
  if (options.address.empty()) return ProcessGroupGloo::createDefaultDevice(lazy);
  return ProcessGroupGloo::createDeviceForHostname(options.address, lazy);
}

}  // namespace

Backend make_gloo(const Store& store, const BackendOptions& options) {
  using c10d::ProcessGroupGloo;
  leave_out_flight_recorder();
  auto gloo = ProcessGroupGloo::Options::create(options.start);
  gloo->devices = {device_of(options)};
  gloo->group_name = options.name;
  const auto keys = c10::make_intrusive<c10d::PrefixStore>(options.name + "/", store);
  auto made = c10::make_intrusive<ProcessGroupGloo>(keys, options.rank, options.size, gloo);
  if (connects_lazily(options)) connect_neighbors(*made);
  made->setTimeout(options.timeout);
  return made;
}

}  // namespace ddptrain
