#include "distributed/control/failure_board.h"

#include <chrono>
#include <functional>
#include <thread>

#include "distributed/control/node_watch.h"
#include "distributed/control/store.h"
#include "distributed/world.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

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
        topology_(topology),
        serves_(topology.rank == 0 && !topology.store_is_served) {
    watch_->beats = topology.beats;
    start_watch(watch_, store_, topology);
  }

  ~StoreBoard() override { leave(); }

  void post(const Failure& failure) override {
    quietly([&] { post_failure(*store_, failure); });
  }

  std::shared_ptr<std::atomic<int>> waits() const override { return watch_->waits; }

  std::optional<Failure> cause(milliseconds patience) override {
    std::unique_lock lock(watch_->mutex);
    watch_->lost_peer = true;
    watch_->changed.notify_all();
    const auto end = Clock::now() + patience;
    while (Clock::now() < end && !watch_->cause && !watch_->has_ended && watch_->is_answered())
      watch_->changed.wait_for(lock, 100ms);
    if (watch_->cause) return watch_->cause;
    if (watch_->is_answered() || watch_->server.lost_peer || topology_.rank == 0) return {};
    return lost_server(watch_->server, topology_.store_is_served);
  }

  void leave() override {
    if (!end_thread()) return;
    const auto end = Clock::now() + 5s;
    const int all = ranks_to_leave();
    quietly([&] {
      auto left = store_->add(kLeft, 1);
      while (serves_ && left < all && Clock::now() < end) {
        std::this_thread::sleep_for(20ms);
        left = store_->add(kLeft, 0);
      }
    });
  }

 private:
  int ranks_to_leave() const {
    const std::lock_guard lock(watch_->mutex);
    return topology_.world - watch_->silent;
  }

  /// Whether this rank now has to leave: once, and only where the store answers.
  bool end_thread() {
    std::unique_lock lock(watch_->mutex);
    if (watch_->ends) return false;
    const bool answered = watch_->is_answered();
    watch_->ends = true;
    watch_->beats = nullptr;
    watch_->changed.notify_all();
    watch_->changed.wait_for(lock, 1s, [&] { return watch_->has_ended; });
    return answered;
  }

  Store store_;
  Topology topology_;
  bool serves_;
  std::shared_ptr<WatchState> watch_ = std::make_shared<WatchState>();
};

}  // namespace

std::unique_ptr<FailureBoard> make_failure_board(const Store& store, const Topology& topology) {
  return std::make_unique<StoreBoard>(store, topology);
}

void rethrow_cause(World& world, const std::exception_ptr& error) {
  const auto own = failure_of(error, world.rank);
  if (!own.secondary) world.board->post(own);
  const auto cause = own.secondary ? world.board->cause(10s) : std::nullopt;
  world.statistics.reset();  // now the others lose this rank
  world.gradients.reset();
  world.control.reset();
  world.board->leave();
  if (cause) throw PeerError(*cause);
  std::rethrow_exception(error);
}

}  // namespace ddptrain
