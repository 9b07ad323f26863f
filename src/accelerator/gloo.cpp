// The only file that sees gloo: Debian's headers, LibTorch's own copy of the library.
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <cstdlib>
#include <mutex>

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

/// By address: the host name may resolve to an outer one that a firewall guards, or to the loopback
/// address, which other nodes cannot reach. GLOO_SOCKET_IFNAME chooses the interface, as in torch.
std::shared_ptr<gloo::transport::Device> device_of(const BackendOptions& options) {
  using c10d::ProcessGroupGloo;
  if (options.loopback) return ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  const char* named = std::getenv("GLOO_SOCKET_IFNAME");
  if (named && *named) return ProcessGroupGloo::createDeviceForInterface(named);
  if (options.address.empty()) return ProcessGroupGloo::createDefaultDevice();
  return ProcessGroupGloo::createDeviceForHostname(options.address);
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
  made->setTimeout(options.timeout);
  return made;
}

}  // namespace ddptrain
