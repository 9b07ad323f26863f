#include "launch/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/files/scratch_folder.h"
#include "base/output/log.h"
#include "base/text.h"
#include "launch/arena/rank_arena.h"
#include "launch/ending.h"
#include "launch/rank_process.h"
#include "launch/signal_relay.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

#ifdef __SANITIZE_THREAD__
constexpr int runtime_threads = 1;  // ThreadSanitizer has a thread of its own
#else
constexpr int runtime_threads = 0;
#endif

int count_threads() {
  for (const auto& line : split(read_text("/proc/self/status"), '\n'))
    if (line.rfind("Threads:", 0) == 0)
      return static_cast<int>(parse_integer(trim(line.substr(8))).value_or(0));
  return 0;
}

class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options) : options_(options) {}
  ~Launcher() { kill_now(); }

  void start(int ranks, const RankProcess::Main& main) {
    Topology alone;
    alone.run_id = fs::path(folder_.path()).filename().string();
    if (ranks > 1 && !options_.node) alone.arena = make_rank_arena(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      auto topology = rank_on_node(options_.node ? *options_.node : alone, rank, ranks);
      topology.store = folder_.path();
      processes_.push_back(
          std::make_unique<RankProcess>(topology, main, log_of(rank), signals_.of_children()));
      if (alone.arena) alone.arena->set_process(rank, processes_.back()->pid());
    }
  }

  int watch() {
    while (running()) {
      obey(signals_.next(0.1, [this](int signal) { send_all(signal); }));
      notice_a_pause();
      for (auto& process : processes_)
        if (process->reap()) note(ending_of(*process));
      if (failed_at_ > 0) note_records();
      look_for_hang();
      end_others();
    }
    return conclude();
  }

 private:
  bool running() const {
    return std::any_of(processes_.begin(), processes_.end(),
                       [](const auto& process) { return process->running(); });
  }

  std::string log_of(int rank) const {
    if (rank == 0 || options_.node) return "";
    const auto file = options_.log_file ? options_.log_file(rank) : "";
    return file.empty() ? "/dev/null" : file;
  }

  void send_all(int signal) const {
    for (const auto& process : processes_) process->send(signal);
  }

  void kill_now() const {
    send_all(SIGCONT);
    send_all(SIGKILL);
  }

  void obey(const Asked& asked) {
    if (asked.what == Asked::save || asked.what == Asked::stop) send_all(asked.signal);
    if (asked.what == Asked::resumed) resumed_at_ = seconds_now();  // time asleep is no hang
    if (asked.what != Asked::end_now) return;
    killed_by_user_ = asked.signal;
    kill_now();
  }

  // Also where no signal announced it: the whole control group was stopped, or the machine.
  void notice_a_pause() {
    const double now = seconds_now();
    if (now - looked_at_ > 2) resumed_at_ = now;
    looked_at_ = now;
  }

  Ending ending_of(const RankProcess& process) const {
    Ending ending{process.rank(), process.code(), process.killed_by(), process.ended_at(), {},
                  false};
    ending.failure = read_failure(folder_.path(), process.rank());
    ending.ended_by_us = ending_since_ > 0 && !ending.failure &&
                         (ending.killed_by == SIGTERM || ending.killed_by == SIGKILL ||
                          ending.code == 128 + SIGTERM);
    return ending;
  }

  int stop_signal() const { return signals_.stop_signal() != 0 ? signals_.stop_signal() : agreed_; }

  // Ranks that another process signaled agree among themselves, save, and leave with its number.
  void agree_with(const Ending& ending) {
    if (failed_at_ > 0 || ending.failure || ending.killed_by != 0) return;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE})
      if (ending.code == 128 + signal) agreed_ = signal;
  }

  // A rank that failed leaves its record before its peers can lose it, and takes its time to end.
  void note_records() {
    for (const auto& process : processes_) {
      if (!process->running()) continue;
      auto failure = read_failure(folder_.path(), process->rank());
      if (!failure) continue;
      const int code = static_cast<int>(failure->code);
      note({process->rank(), code, 0, failure->seconds, std::move(failure), false});
    }
  }

  void note(Ending ending) {
    for (const auto& known : endings_)
      if (known.rank == ending.rank) return;
    agree_with(ending);
    const bool failed = !is_orderly(ending, stop_signal());
    endings_.push_back(std::move(ending));
    if (failed && failed_at_ == 0) failed_at_ = seconds_now();
  }

  double patience(const Beat& beat) const {
    // A little less than the collectives wait for each other: who hangs shall be named before its
    // peers give up.
    return 0.95 * (beat.step < 0 ? options_.start_seconds : options_.step_seconds);
  }

  void look_for_hang() {
    if (!options_.heartbeats || failed_at_ > 0 || hang_found_) return;
    for (const auto& process : processes_) {
      if (!is_silent(*process) || waits_for_another(*process)) continue;
      declare_hang();
      return;
    }
  }

  bool is_silent(const RankProcess& process) const {
    if (!process.running()) return false;
    const auto beat = options_.heartbeats->last(process.rank());
    return seconds_now() - std::max(beat.seconds, resumed_at_) >= patience(beat);
  }

  // A rank that shows life and is not ahead (it builds a text cache, say) is waited for.
  bool waits_for_another(const RankProcess& silent) const {
    const auto step = options_.heartbeats->last(silent.rank()).step;
    return !silent.is_stopped() &&
           std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
             return other->running() && !is_silent(*other) &&
                    options_.heartbeats->last(other->rank()).step <= step;
           });
  }

  // When one rank hangs, its peers wait for it: suspended ones first, then those behind, then the
  // one that has been silent for longest.
  void declare_hang() {
    const RankProcess* culprit = nullptr;
    const auto order = [&](const RankProcess& process) {
      const auto beat = options_.heartbeats->last(process.rank());
      return std::tuple(!process.is_stopped(), beat.step, beat.seconds);
    };
    for (const auto& process : processes_)
      if (process->running() && (!culprit || order(*process) < order(*culprit)))
        culprit = process.get();
    const auto beat = options_.heartbeats->last(culprit->rank());
    const auto silent = seconds_now() - std::max(beat.seconds, resumed_at_);
    Failure failure{culprit->rank(), beat.seconds, Exit::hang, "", {}};
    failure.message = fmt::format("no sign of life for {} in phase '{}'{}{} (parallel.timeout)",
                                  format_seconds(silent), beat.phase,
                                  beat.step >= 0 ? fmt::format(" after step {}", beat.step) : "",
                                  culprit->is_stopped() ? "; the process is suspended" : "");
    hang_found_ = true;
    note({culprit->rank(), static_cast<int>(Exit::hang), 0, seconds_now(), failure, false});
  }

  // A rank that only lost a peer can be noticed before the peer that was killed: wait for the
  // cause. Then SIGTERM to all, and SIGKILL to those who stay.
  void end_others() {
    if (failed_at_ == 0) return;
    const double now = seconds_now();
    if (ending_since_ == 0) {
      const auto* cause = first_cause(endings_, stop_signal());
      if (is_secondary(*cause) && now - failed_at_ < options_.cause_seconds) return;
      ending_since_ = now;
      send_all(SIGTERM);
      send_all(SIGCONT);
    } else if (now - ending_since_ > options_.grace_seconds) {
      kill_now();
    }
  }

  int conclude() const {
    if (killed_by_user_ != 0) return 128 + killed_by_user_;
    const auto* cause = first_cause(endings_, stop_signal());
    if (!cause) {
      int code = 0;
      for (const auto& ending : endings_) code = std::max(code, ending.code);
      return code;
    }
    if (cause->killed_by != 0 && cause->killed_by == stop_signal()) return cause->code;
    say(*cause);
    // A rank that had left its record may have died of our SIGTERM before it could exit.
    return cause->failure ? static_cast<int>(cause->failure->code) : cause->code;
  }

  void say(const Ending& cause) const {
    log::status("");
    log::error(describe(cause), cause.failure ? cause.failure->place : Place{});
    if (!cause.failure && cause.rank > 0) show_last_lines(log_of(cause.rank));
    for (const auto& ending : endings_)
      if (ending.rank != cause.rank && ending.failure)
        log::info("  as a consequence, {}", describe(ending).substr(0, 160));
  }

  // What the C library or torch printed before a rank fell.
  static void show_last_lines(const std::string& file) {
    std::error_code none;
    if (!fs::is_regular_file(file, none) || fs::file_size(file, none) == 0) return;
    auto lines = split(trim(read_text(file)), '\n');
    const std::size_t shown = std::min<std::size_t>(lines.size(), 8);
    log::info("the last lines of '{}':", file);
    for (std::size_t i = lines.size() - shown; i < lines.size(); ++i) log::info("  {}", lines[i]);
  }

  const LaunchOptions& options_;
  SignalRelay signals_{SIGSTOP, options_.usr1};
  ScratchFolder folder_;
  std::vector<std::unique_ptr<RankProcess>> processes_;
  std::vector<Ending> endings_;
  double looked_at_ = seconds_now();
  double resumed_at_ = 0;
  double failed_at_ = 0;     // 0: no failure
  double ending_since_ = 0;  // SIGTERM to all; 0: not yet
  int agreed_ = 0;           // a stop signal that the ranks left with; 0: none
  int killed_by_user_ = 0;
  bool hang_found_ = false;
};

}  // namespace

int launch(int ranks, const std::function<int(const Topology&)>& rank_main,
           const LaunchOptions& options) {
  DDP_CHECK(count_threads() == 1 + runtime_threads, "ranks are forked before any thread exists");
  Launcher launcher(options);
  launcher.start(ranks, rank_main);
  return launcher.watch();
}

}  // namespace ddptrain
