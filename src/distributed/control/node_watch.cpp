#include "distributed/control/node_watch.h"

#include <fmt/format.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "distributed/control/node_table.h"
#include "launch/heartbeat.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Clock = WatchState::Clock;

constexpr auto kFailure = "failure";
constexpr auto kServer = "status of rank 0";  // and, in a second line, the failure that was posted
constexpr auto kLookers = "lookers";          // how many ranks have begun to look for a cause
constexpr int kMostLookers = 8;               // each reads the status of all nodes
constexpr auto kPause = 250ms;                // between two reports in the table of the node
constexpr auto kBlocked = 3s;                 // with a call that waits for a rank that has failed
constexpr auto kServerStays = 2s;             // longer, while others read its store

std::string node_key(std::int64_t node) { return fmt::format("status/{}", node); }

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::string text_of_bytes(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

/// A call of the store, while it lives.
class StoreCall {
 public:
  explicit StoreCall(WatchState& state) : state_(state) { note(Clock::now()); }
  ~StoreCall() { note({}); }
  StoreCall(const StoreCall&) = delete;
  StoreCall& operator=(const StoreCall&) = delete;

 private:
  void note(Clock::time_point when) {
    const std::lock_guard lock(state_.mutex);
    state_.called = when;
    if (when == Clock::time_point()) state_.changed.notify_all();
  }

  WatchState& state_;
};

class NodeWatch {
 public:
  NodeWatch(std::shared_ptr<WatchState> state, const Store& store, const Topology& topology)
      : state_(std::move(state)),
        store_(store),
        table_(std::make_unique<NodeTable>(*store, topology.rank, topology.world)),
        rank_(topology.rank),
        ranks_(topology.world) {
    char host[256] = "";
    if (::gethostname(host, sizeof host - 1) == 0) host_ = host;
  }

  /// Before any collective: who reads them finds those of all nodes.
  void begin() {
    table_->write(own());
    publish();
  }

  void run() {
    try {
      store_ = store_->clone();  // a connection of its own: a call waits for no other thread's
      while (goes_on()) report();
      if (rank_ == 0) pass_on_failure();  // that of its own
    } catch (const std::exception&) {
      const std::lock_guard lock(state_->mutex);
      state_->answers = false;
    }
    table_->leave();
    const std::lock_guard lock(state_->mutex);
    state_->has_ended = true;
    state_->changed.notify_all();
  }

 private:
  bool goes_on() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_for(lock, kPause,
                             [&] { return state_->ends || (state_->lost_peer && !asked_); });
    return !state_->ends && !state_->cause;
  }

  void report() {
    const auto status = own();
    table_->write(status);
    note_server();
    if (rank_ == 0 || table_->publishes()) publish_when_due();
    if (status.lost_peer)
      look_for_cause();
    else if (status.waits)
      look_at_peers();
    else
      failed_.reset();
  }

  /// A call that waits for a rank that has failed may come back with an error, or after minutes:
  /// NCCL connects ranks in a collective's first call, and tries for 59.5 s to reach one that
  /// ended.
  void look_at_peers() {
    const auto cause = table_->cause();
    if (!cause) return;
    state_->peer_has_failed = true;
    if (!failed_) failed_ = Clock::now();
    if (Clock::now() - *failed_ < kBlocked + (rank_ == 0 ? kServerStays : 0s)) return;
    end_process(failure_of(std::make_exception_ptr(PeerError(*cause)), rank_));
  }

  RankStatus own() const {
    const std::lock_guard lock(state_->mutex);
    RankStatus status;
    status.rank = rank_;
    status.host = host_;
    status.waits = *state_->waits > 0;
    status.lost_peer = state_->lost_peer;
    if (!state_->beats) return status;
    auto beat = state_->beats->last(0);
    status.step = beat.step;
    status.phase = std::move(beat.phase);
    status.silent = seconds_now() - beat.seconds;
    return status;
  }

  /// At most some 4,000 calls a second, of how many nodes ever.
  milliseconds period() const { return std::max(1000ms, milliseconds(nodes_ / 4)); }

  void publish_when_due() {
    if (Clock::now() - published_ < period()) return;
    publish();
    if (rank_ == 0)
      pass_on_failure();
    else
      look_at_server();
  }

  void publish() {
    published_ = Clock::now();
    const StoreCall call(*state_);
    const auto all = table_->statuses();
    if (table_->publishes()) store_->set(node_key(table_->node()), bytes_of(to_text(all)));
    if (rank_ != 0) return;
    for (const auto& status : all) {
      if (status.rank != 0) continue;
      table_->write_server(status);
      store_->set(kServer, bytes_of(to_text(status)));
    }
  }

  /// Rank 0 looks at the board for those that wait: each node reads its status anyway.
  void pass_on_failure() {
    const auto failure = posted();
    if (!failure) return;
    table_->write_cause(*failure);
    const StoreCall call(*state_);
    store_->set(kServer, bytes_of(to_text(table_->server()) + '\n' + to_record(*failure)));
  }

  void look_at_server() {
    const StoreCall call(*state_);
    const auto text = text_of_bytes(store_->get(kServer));
    table_->write_server(status_of(text));
    const auto end = text.find('\n');
    if (end == std::string::npos) return;
    if (const auto failure = from_record(text.substr(end + 1))) table_->write_cause(*failure);
  }

  std::optional<Failure> posted() {
    const StoreCall call(*state_);
    if (!store_->check({kFailure})) return {};
    return from_record(text_of_bytes(store_->get(kFailure)));
  }

  /// What another rank of this node has found, or this one finds. Each rank asks the store once:
  /// that shows whether it answers.
  void look_for_cause() {
    const bool looks = table_->looks();
    auto found = table_->cause();
    if (!found && (looks || !asked_)) found = posted();
    asked_ = true;
    if (!found && looks) found = missing();
    if (!found) return;
    table_->write_cause(*found);
    const std::lock_guard lock(state_->mutex);
    state_->cause = std::move(found);
    state_->changed.notify_all();
  }

  void note_server() {
    auto server = table_->server();
    const std::lock_guard lock(state_->mutex);
    state_->server = std::move(server);
  }

  /// The rank that stopped or hangs, where the statuses of two times show it.
  std::optional<Failure> missing() {
    if (!looks_) looks_ = counted(kLookers, 1) <= kMostLookers;
    if (!*looks_) return {};
    if (before_.empty()) {
      before_ = all();
      looked_ = Clock::now();
    }
    if (Clock::now() - looked_ < 3 * period()) return {};
    const auto after = all();
    auto found = missing_rank(before_, after);
    note_silent(static_cast<int>(silent_ranks(before_, after).size()));
    before_.clear();
    if (!found) return {};
    const StoreCall call(*state_);
    post_failure(*store_, *found);
    return found;
  }

  void note_silent(int ranks) {
    const std::lock_guard lock(state_->mutex);
    state_->silent = ranks;
  }

  std::int64_t counted(const char* key, std::int64_t more) {
    const StoreCall call(*state_);
    return store_->add(key, more);
  }

  std::vector<RankStatus> all() {
    nodes_ = counted("nodes", 0);
    std::vector<std::string> keys;
    for (std::int64_t node = 0; node < nodes_; ++node) keys.push_back(node_key(node));
    std::vector<RankStatus> found(static_cast<std::size_t>(ranks_));
    const StoreCall call(*state_);
    for (const auto& bytes : store_->multiGet(keys)) read_statuses(text_of_bytes(bytes), found);
    return found;
  }

  std::shared_ptr<WatchState> state_;
  Store store_;
  std::unique_ptr<NodeTable> table_;
  int rank_, ranks_;
  std::string host_;
  std::int64_t nodes_ = 1;
  Clock::time_point published_ = {}, looked_ = {};
  std::optional<Clock::time_point> failed_;  // another rank, while this one waits
  bool asked_ = false;
  std::optional<bool> looks_;  // whether this rank is one of those that look
  std::vector<RankStatus> before_;
};

}  // namespace

bool WatchState::is_answered() const {
  const bool hangs = called != Clock::time_point() && Clock::now() - called > 3s;
  return answers && !hangs;
}

void post_failure(c10d::Store& store, const Failure& failure) {
  store.compareSet(kFailure, "", to_record(failure));
}

void start_watch(std::shared_ptr<WatchState> state, const Store& store, const Topology& topology) {
  NodeWatch watch(std::move(state), store, topology);
  watch.begin();
  std::thread([watch = std::move(watch)]() mutable { watch.run(); }).detach();
}

}  // namespace ddptrain
