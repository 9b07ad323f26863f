#include "distributed/control/failure_board.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

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

constexpr auto kSearch = 10s;
constexpr auto kLeft = "left";  // how many ranks have left the board

// The store may be gone with the rank that served it.
void quietly(const std::function<void()>& action) noexcept {
  try {
    action();
  } catch (const std::exception&) {
  }
}

/// What `watch` finds within `patience`, once it is asked.
std::optional<Failure> find_cause(WatchState& watch, const Topology& topology,
                                  milliseconds patience) {
  std::unique_lock lock(watch.mutex);
  watch.lost_peer = true;
  watch.changed.notify_all();
  const auto end = Clock::now() + patience;
  while (Clock::now() < end && !watch.cause && !watch.has_ended && watch.is_answered())
    watch.changed.wait_for(lock, 100ms);
  if (watch.cause) return watch.cause;
  if (watch.is_answered() || watch.server.lost_peer || topology.rank == 0) return {};
  return lost_server(watch.server, topology.store_is_served);
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
    return find_cause(*watch_, topology_, patience);
  }

  Explain explanation() const override {
    return [store = store_, topology = topology_, watch = watch_](const Failure& own) {
      if (!own.secondary) quietly([&] { post_failure(*store, own); });
      const auto cause = own.secondary ? find_cause(*watch, topology, kSearch) : std::nullopt;
      return cause ? failure_of(std::make_exception_ptr(PeerError(*cause)), own.rank) : own;
    };
  }

  bool peer_has_failed() const override { return watch_->peer_has_failed; }

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
  const auto cause = own.secondary ? world.board->cause(kSearch) : std::nullopt;
  world.statistics.reset();  // now the others lose this rank
  world.gradients.reset();
  world.control.reset();
  world.board->leave();
  if (cause) throw PeerError(*cause);
  std::rethrow_exception(error);
}

}  // namespace ddptrain
