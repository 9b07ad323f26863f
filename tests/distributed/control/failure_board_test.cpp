// Ranks of another launcher, as threads: each learns why the others failed.
#include "distributed/control/failure_board.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
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
std::vector<Failure> failures(int size, const test::Play& body) {
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
        auto world = join(topology, {});
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

}  // namespace
}  // namespace ddptrain
