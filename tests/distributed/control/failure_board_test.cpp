// Ranks of another launcher, as threads: each learns why the others failed.
#include "distributed/control/failure_board.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "distributed/c10d.h"
#include "support/ranks.h"

namespace ddptrain {
namespace {

int unused_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length), 0);
  ::close(listener);
  return ntohs(address.sin_port);
}

/// What each rank throws in the end, as the record of its failure.
std::vector<Failure> failures(int size, const test::Play& body, const JoinOptions& options = {}) {
  std::vector<Failure> found(static_cast<std::size_t>(size));
  const int port = unused_port();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      Topology topology;
      topology.rank = topology.local_rank = rank;
      topology.world = topology.local_world = size;
      topology.address = "127.0.0.1";
      topology.port = port;
      try {
        auto world = join(topology, options);
        try {
          body(world);
        } catch (...) {
          rethrow_cause(world, std::current_exception());
        }
      } catch (...) {
        found[static_cast<std::size_t>(rank)] = failure_of(std::current_exception(), rank);
      }
    });
  for (auto& thread : threads) thread.join();
  return found;
}

// Rank 0 serves the board itself.
TEST(FailureBoard, GivesRanksThatLostAnotherItsReason) {
  for (const int failing : {0, 2}) {
    const auto found = failures(3, [&](World& world) {
      world.control->barrier();
      if (world.rank == failing) throw Error(Exit::data, "it is torn", {"a.jpg", 3, 1});
      world.control->barrier();
    });
    for (const auto& failure : found) {
      const bool own = failure.rank == failing;
      EXPECT_EQ(failure.code, Exit::data);
      EXPECT_EQ(failure.message, own ? std::string("it is torn")
                                     : "rank " + std::to_string(failing) + ": it is torn");
      EXPECT_EQ(failure.place.file, "a.jpg");
      EXPECT_EQ(failure.place.line, 3);
      EXPECT_EQ(failure.secondary, !own);
    }
  }
}

// As where a thread of NCCL's loses the peer while the rank's own thread is elsewhere.
TEST(FailureBoard, ExplainsALossToAnyThread) {
  std::vector<Failure> explained(2);
  failures(2, [&](World& world) {
    world.control->barrier();
    if (world.rank == 1) throw Error(Exit::data, "it is torn", {"a.jpg"});
    const auto explain = world.board->explanation();
    const Failure loss{0, 1, Exit::device, kPeerEnded, {}, true};
    std::thread([&] { explained[0] = explain(loss); }).join();
    explained[1] = explain({0, 1, Exit::memory, "its own", {}});
  });
  EXPECT_EQ(explained[0].code, Exit::data);
  EXPECT_EQ(explained[0].rank, 0);
  EXPECT_EQ(explained[0].message, "rank 1: it is torn");
  EXPECT_EQ(explained[0].place.file, "a.jpg");
  EXPECT_TRUE(explained[0].secondary);
  EXPECT_EQ(explained[1].message, "its own");
}

// Rank 0 looks at the store for the others.
TEST(FailureBoard, TellsARankThatWaitsThatAnotherHasFailed) {
  for (const int failing : {0, 1}) {
    bool seen = false;
    failures(2, [&](World& world) {
      world.control->barrier();
      if (world.rank == failing) throw Error(Exit::data, "it is torn");
      EXPECT_FALSE(world.board->peer_has_failed());
      const CountedWait counted(world.board->waits());
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!world.board->peer_has_failed() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      seen = world.board->peer_has_failed();
    });
    EXPECT_TRUE(seen) << failing;
  }
}

/// Waits for another rank in a call that does not come back, as the first collective of NCCL does
/// where it connects to a rank that has ended.
void wait_in_vain(const FailureBoard& board) {
  const CountedWait counted(board.waits());
  std::this_thread::sleep_for(std::chrono::minutes(1));
}

TEST(FailureBoardDeathTest, EndsARankWhoseCallKeepsWaitingForOneThatFailed) {
  const auto run = [] {
    failures(2, [](World& world) {
      world.control->barrier();
      if (world.rank == 1) throw Error(Exit::data, "it is torn", {"a.jpg"});
      wait_in_vain(*world.board);
    });
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(3), "^a.jpg: error: rank 1: it is torn\n$");
}

/// Whose groups rank 0 cannot connect.
class HalfConnected final : public Accelerator {
 public:
  c10::DeviceType type() const override { return c10::kCPU; }
  int count() const override { return 1; }
  DeviceFacts facts(int) const override { return {}; }
  bool peer_access(int, int) const override { return false; }
  std::vector<std::pair<std::string, std::string>> versions() const override { return {}; }
  void select(int) const override {}
  void be_deterministic() const override {}
  DeviceMemory memory(int) const override { return {}; }
  void reset_peak_memory(int) const override {}
  void empty_cache() const override {}
  c10::DataPtr host_memory(std::int64_t) const override { return {}; }
  DeviceJpegDecoder jpeg_decoder(int) const override { return {}; }
  std::unique_ptr<DeviceGraph> capture(int, const DeviceWork&) const override { return nullptr; }
  Backend process_group(const Store&, const BackendOptions& options, int) const override {
    if (options.rank == 0) throw std::runtime_error("NCCL error: no memory\nframe #0");
    std::this_thread::sleep_for(std::chrono::minutes(1));
    return {};
  }
};

TEST(FailureBoardDeathTest, EndsARankThatConnectsToOneThatCannot) {
  const HalfConnected accelerator;
  const JoinOptions options{.accelerator = &accelerator};
  EXPECT_EXIT(failures(
                  2, [](World&) {}, options),
              testing::ExitedWithCode(4),
              "^error: rank 0 could not connect to the other ranks: NCCL error: no memory");
}

}  // namespace
}  // namespace ddptrain
