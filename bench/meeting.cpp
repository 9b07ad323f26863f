// Processes of this machine that meet at a store by TCP: how long each part of the start takes, of
// the slowest rank. The first meeting is the usual one, in which each rank looks for every other.
//   bench_meeting [RANKS]
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <vector>

#include "base/clock.h"
#include "distributed/c10d.h"
#include "distributed/control/meeting.h"
#include "distributed/control/store.h"
#include "distributed/control/versions.h"
#include "launch/launcher.h"

namespace {

using namespace ddptrain;
using namespace std::chrono_literals;

int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    std::exit(1);
  ::close(listener);
  return ntohs(address.sin_port);
}

Store part_of(const Store& store, const std::string& name) {
  return c10::make_intrusive<c10d::PrefixStore>(name, store);
}

MeetingTime ten_minutes() { return {std::chrono::steady_clock::now() + 10min, 10min}; }

void look_for_each(c10d::Store& store, int rank, int world) {
  const auto key = [](int other) { return fmt::format("here/{}", other); };
  store.set(key(rank), std::string("1"));
  for (int other = 0; other < world; ++other)
    if (!store.check({key(other)})) store.wait({key(other)}, 10min);
}

class Measured {
 public:
  Measured(const Topology& topology, Store store) : topology_(topology), store_(std::move(store)) {}

  /// The seconds of the slowest rank, on rank 0.
  double slowest(const std::string& name, const std::function<void()>& work) {
    meet(*part_of(store_, name + " begins"), topology_, ten_minutes());
    const Stopwatch watch;
    work();
    store_->set(key(name, topology_.rank), std::to_string(watch.seconds()));
    double most = 0;
    for (int rank = 0; topology_.rank == 0 && rank < topology_.world; ++rank) {
      const auto bytes = store_->get(key(name, rank));
      most = std::max(most, std::stod(std::string(bytes.begin(), bytes.end())));
    }
    return most;
  }

 private:
  static std::string key(const std::string& name, int rank) {
    return fmt::format("{}/{}", name, rank);
  }
  const Topology& topology_;
  Store store_;
};

long open_files() {
  long count = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

/// Prints, on rank 0, what a Gloo group takes, connected at the start or when it is used.
void measure_group(Measured& measured, const Store& store, const Topology& topology, bool lazy) {
  const std::string name = lazy ? "lazy" : "eager";
  ::setenv("TORCH_GLOO_LAZY_INIT", lazy ? "1" : "0", 1);
  BackendOptions options;
  options.name = name;
  options.rank = topology.rank;
  options.size = topology.world;
  options.start = 10min;
  std::unique_ptr<Group> group;
  const auto files = open_files();
  const auto start = measured.slowest(
      name, [&] { group = make_backend_group(make_gloo(store, options), options); });
  auto numbers = at::zeros({16}, at::kDouble);
  const auto first = measured.slowest(name + " first", [&] { group->all_reduce(numbers); });
  const auto second = measured.slowest(name + " second", [&] { group->all_reduce(numbers); });
  const auto agreed = measured.slowest(name + " agree", [&] { all_equal(*group, "same"); });
  const auto gathered = measured.slowest(name + " gather", [&] { gather_text(*group, "same"); });
  group->barrier();
  if (topology.rank == 0)
    std::printf(
        "  \"%s\": {\"start\": %.3f, \"first_all_reduce\": %.3f, \"all_reduce\": %.4f, "
        "\"agree\": %.4f, \"gather_text\": %.4f, \"files\": %ld},\n",
        name.c_str(), start, first, second, agreed, gathered, open_files() - files);
}

int measure(Topology topology, int port) {
  topology.address = "127.0.0.1";
  topology.port = port;
  const auto store = rendezvous(topology, 10min);
  Measured measured(topology, store);
  const auto each = measured.slowest(
      "each", [&] { look_for_each(*part_of(store, "each"), topology.rank, topology.world); });
  const auto counter = measured.slowest(
      "counter", [&] { meet(*part_of(store, "counter"), topology, ten_minutes()); });
  if (topology.rank == 0)
    std::printf("{\"ranks\": %d, \"meeting\": {\"each_key\": %.4f, \"counter\": %.4f},\n",
                topology.world, each, counter);
  for (const bool lazy : {false, true}) measure_group(measured, store, topology, lazy);
  meet(*part_of(store, "end"), topology, ten_minutes());
  if (topology.rank == 0) std::printf("  \"end\": true}\n");
  std::fflush(stdout);
  ::usleep(topology.rank == 0 ? 1'000'000 : 0);  // it serves the store
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 64;
  const int port = free_port();
  return launch(ranks, [&](const Topology& topology) { return measure(topology, port); }, {});
}
