#include "distributed/failure_board.h"

#include <functional>
#include <thread>

#include "distributed/store.h"
#include "distributed/world.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kFailure = "failure";
constexpr auto kLeft = "left";  // how many ranks have left the board

// The store may be gone with the rank that served it.
void quietly(const std::function<void()>& action) noexcept {
  try {
    action();
  } catch (const std::exception&) {
  }
}

class StoreBoard final : public FailureBoard {
 public:
  StoreBoard(Store store, const Topology& topology)
      : store_(std::move(store)),
        ranks_(topology.world),
        serves_(topology.rank == 0 && !topology.store_is_served) {}

  void post(const Failure& failure) override {
    quietly([&] { store_->compareSet(kFailure, "", to_record(failure)); });
  }

  std::optional<Failure> read(std::chrono::milliseconds patience) override {
    std::optional<Failure> found;
    quietly([&] {
      store_->wait({kFailure}, patience);
      const auto record = store_->get(kFailure);
      found = from_record({record.begin(), record.end()});
    });
    return found;
  }

  void leave() override {
    const auto end = Clock::now() + 5s;
    quietly([&] {
      auto left = store_->add(kLeft, 1);
      while (serves_ && left < ranks_ && Clock::now() < end) {
        std::this_thread::sleep_for(20ms);
        left = store_->add(kLeft, 0);
      }
    });
  }

 private:
  Store store_;
  int ranks_;
  bool serves_;
};

}  // namespace

std::unique_ptr<FailureBoard> make_failure_board(const Store& store, const Topology& topology) {
  return std::make_unique<StoreBoard>(store, topology);
}

void rethrow_cause(World& world, const std::exception_ptr& error) {
  const auto own = failure_of(error, world.rank);
  if (!own.secondary) world.board->post(own);
  const auto cause = own.secondary ? world.board->read(10s) : std::nullopt;
  world.statistics.reset();  // now the others lose this rank
  world.gradients.reset();
  world.control.reset();
  world.board->leave();
  if (cause) throw PeerError(*cause);
  std::rethrow_exception(error);
}

}  // namespace ddptrain
