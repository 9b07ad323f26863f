#include "distributed/failure_board.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "distributed/rank_status.h"
#include "distributed/store.h"
#include "distributed/world.h"
#include "launch/heartbeat.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kFailure = "failure";
constexpr auto kLeft = "left";  // how many ranks have left the board

std::string status_key(int rank) { return fmt::format("status/{}", rank); }

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// The store may be gone with the rank that served it.
void quietly(const std::function<void()>& action) noexcept {
  try {
    action();
  } catch (const std::exception&) {
  }
}

/// What a rank and its thread share. The thread may wait for a store that never answers, and then
/// outlives the board: it touches nothing else.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  const Heartbeats* beats = nullptr;  // null once the board is gone
  bool ends = false;                  // asked of the thread
  bool lost_peer = false;             // so is that it looks for the cause
  bool answers = true;                // the store: false once a call has failed
  Clock::time_point called = {};      // the call that is under way; never, where none is
  RankStatus server;                  // rank 0's, as last seen
  std::optional<Failure> cause;
  bool has_ended = false;
  const std::shared_ptr<std::atomic<int>> waits = std::make_shared<std::atomic<int>>(0);
};

/// A call of the store, while it lives.
class StoreCall {
 public:
  explicit StoreCall(Shared& shared) : shared_(shared) { note(Clock::now()); }
  ~StoreCall() { note({}); }
  StoreCall(const StoreCall&) = delete;
  StoreCall& operator=(const StoreCall&) = delete;

 private:
  void note(Clock::time_point when) {
    const std::lock_guard lock(shared_.mutex);
    shared_.called = when;
  }

  Shared& shared_;
};

/// The thread: says where this rank is, and looks for the cause once a peer is lost.
class StatusThread {
 public:
  StatusThread(std::shared_ptr<Shared> shared, const Store& store, const Topology& topology)
      : shared_(std::move(shared)), store_(store), rank_(topology.rank), ranks_(topology.world) {
    char host[256] = "";
    if (::gethostname(host, sizeof host - 1) == 0) host_ = host;
  }

  void publish() {
    auto status = own();
    status.count = ++count_;
    const StoreCall call(*shared_);
    store_->set(status_key(rank_), bytes_of(to_text(status)));
  }

  void run() {
    try {
      store_ = store_->clone();  // a connection of its own: a call waits for no other thread's
      while (goes_on()) {
        publish();
        look_at_server();
        if (looks_for_cause()) look_for_cause();
      }
    } catch (const std::exception&) {
      const std::lock_guard lock(shared_->mutex);
      shared_->answers = false;
    }
    const std::lock_guard lock(shared_->mutex);
    shared_->has_ended = true;
    shared_->changed.notify_all();
  }

 private:
  /// A period of 200 ranks a second, whatever their number.
  milliseconds period() const { return std::max(1000ms, milliseconds(5 * ranks_)); }

  bool goes_on() {
    std::unique_lock lock(shared_->mutex);
    const auto pause = shared_->lost_peer ? period() / 4 : period();
    shared_->changed.wait_for(
        lock, pause, [&] { return shared_->ends || (shared_->lost_peer && before_.empty()); });
    return !shared_->ends && !shared_->cause;
  }

  RankStatus own() const {
    const std::lock_guard lock(shared_->mutex);
    RankStatus status;
    status.host = host_;
    status.waits = *shared_->waits > 0;
    status.lost_peer = shared_->lost_peer;
    if (!shared_->beats) return status;
    auto beat = shared_->beats->last(0);
    status.step = beat.step;
    status.phase = std::move(beat.phase);
    status.silent = seconds_now() - beat.seconds;
    return status;
  }

  RankStatus status(int rank) {
    const auto key = status_key(rank);
    const StoreCall call(*shared_);
    if (!store_->check({key})) return {};
    const auto bytes = store_->get(key);
    return status_of({bytes.begin(), bytes.end()});
  }

  void look_at_server() {
    if (rank_ == 0) return;
    auto found = status(0);
    const std::lock_guard lock(shared_->mutex);
    shared_->server = std::move(found);
  }

  bool looks_for_cause() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->lost_peer;
  }

  std::vector<RankStatus> all() {
    std::vector<RankStatus> found;
    for (int rank = 0; rank < ranks_; ++rank) found.push_back(status(rank));
    return found;
  }

  std::optional<Failure> posted() {
    const StoreCall call(*shared_);
    if (!store_->check({kFailure})) return {};
    const auto record = store_->get(kFailure);
    return from_record({record.begin(), record.end()});
  }

  /// Who comes later learns it at once.
  void post(const Failure& found) {
    const StoreCall call(*shared_);
    store_->compareSet(kFailure, "", to_record(found));
  }

  void look_for_cause() {
    auto found = posted();
    if (!found && before_.empty()) {
      before_ = all();
      looked_ = Clock::now();
    } else if (!found && Clock::now() - looked_ >= 3 * period()) {
      found = missing_rank(before_, all());
      if (found) post(*found);
      before_.clear();
    }
    if (!found) return;
    const std::lock_guard lock(shared_->mutex);
    shared_->cause = std::move(found);
    shared_->changed.notify_all();
  }

  std::shared_ptr<Shared> shared_;
  Store store_;
  int rank_, ranks_;
  std::string host_;
  std::int64_t count_ = 0;
  std::vector<RankStatus> before_;
  Clock::time_point looked_ = {};
};

class StoreBoard final : public FailureBoard {
 public:
  StoreBoard(Store store, const Topology& topology)
      : store_(std::move(store)),
        topology_(topology),
        serves_(topology.rank == 0 && !topology.store_is_served) {
    shared_->beats = topology.beats;
    StatusThread thread(shared_, store_, topology);
    thread.publish();  // before any collective, so that every rank has published its status
    std::thread([thread = std::move(thread)]() mutable { thread.run(); }).detach();
  }

  ~StoreBoard() override { leave(); }

  void post(const Failure& failure) override {
    quietly([&] { store_->compareSet(kFailure, "", to_record(failure)); });
  }

  std::shared_ptr<std::atomic<int>> waits() const override { return shared_->waits; }

  std::optional<Failure> cause(milliseconds patience) override {
    std::unique_lock lock(shared_->mutex);
    shared_->lost_peer = true;
    shared_->changed.notify_all();
    shared_->changed.wait_for(lock, patience, [&] { return shared_->cause || shared_->has_ended; });
    if (shared_->cause) return shared_->cause;
    if (is_answered() || shared_->server.lost_peer || topology_.rank == 0) return {};
    return lost_server(shared_->server, topology_.store_is_served);
  }

  void leave() override {
    if (!end_thread()) return;
    const auto end = Clock::now() + 5s;
    quietly([&] {
      auto left = store_->add(kLeft, 1);
      while (serves_ && left < topology_.world && Clock::now() < end) {
        std::this_thread::sleep_for(20ms);
        left = store_->add(kLeft, 0);
      }
    });
  }

 private:
  /// Whether this rank now has to leave: once, and only where the store answers.
  bool end_thread() {
    std::unique_lock lock(shared_->mutex);
    if (shared_->ends) return false;
    const bool answered = is_answered();
    shared_->ends = true;
    shared_->beats = nullptr;
    shared_->changed.notify_all();
    shared_->changed.wait_for(lock, 1s, [&] { return shared_->has_ended; });
    return answered;
  }

  /// A store whose server is suspended lets its clients wait for ever.
  bool is_answered() const {
    const bool waits =
        shared_->called != Clock::time_point() && Clock::now() - shared_->called > 3s;
    return shared_->answers && !waits;
  }

  Store store_;
  Topology topology_;
  bool serves_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
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
