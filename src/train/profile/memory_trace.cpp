#include "train/profile/memory_trace.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files/atomic_file.h"
#include "base/output/log.h"
#include "base/quoting.h"
#include "distributed/phases.h"
#include "train/profile/memory_reports.h"

namespace ddptrain {
namespace {

constexpr const char* kOutside = "train";  // of all phases

struct Bytes {
  std::int64_t now = 0;
  std::int64_t peak = 0;  // since it was asked for last
  double peak_at = 0;     // seconds
};

/// Kept from any thread.
class ByteCount {
 public:
  ByteCount(c10::Device device, std::int64_t before) : device_(device), bytes_{before, before, 0} {}

  void add(const MemoryReport& report) {
    if (report.device.type() != device_.type()) return;
    if (!device_.is_cpu() && report.device.index() != device_.index()) return;
    const std::lock_guard lock(mutex_);
    bytes_.now = device_.is_cpu() ? bytes_.now + report.bytes : report.allocated;
    if (bytes_.now > bytes_.peak) bytes_ = {bytes_.now, bytes_.now, clock_.seconds()};
    moved_ = true;
  }

  /// Ends a phase. `moved`: something was allocated or freed in it.
  Bytes end_phase(bool& moved) {
    const std::lock_guard lock(mutex_);
    const auto taken = bytes_;
    moved = std::exchange(moved_, false);
    bytes_.peak = bytes_.now;
    bytes_.peak_at = clock_.seconds();
    return taken;
  }

  double seconds() const { return clock_.seconds(); }

 private:
  c10::Device device_;
  Stopwatch clock_;
  std::mutex mutex_;
  Bytes bytes_;
  bool moved_ = false;
};

/// A Chrome trace of one process: its rank is the number of the process.
class ChromeTrace {
 public:
  ChromeTrace(const std::string& path, std::int64_t rank) : file_(path), rank_(rank) {
    file_.write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    add(R"({"ph":"M","name":"process_name","pid":%lld,"args":{"name":"ddptrain rank %lld"}})",
        rank_, rank_);
    add(R"({"ph":"M","name":"thread_name","pid":%lld,"tid":0,"args":{"name":"phases"}})", rank_);
  }

  void phase(const char* name, double begin, double end) {
    add(R"({"ph":"X","cat":"phase","name":"%s","pid":%lld,"tid":0,"ts":%.3f,"dur":%.3f})", name,
        rank_, 1e6 * begin, 1e6 * (end - begin));
  }

  void bytes(double time, std::int64_t bytes) {
    add(R"({"ph":"C","cat":"memory","name":"allocated bytes","pid":%lld,"ts":%.3f,"args":{"bytes":%lld}})",
        rank_, 1e6 * time, static_cast<long long>(bytes));
  }

  void commit() {
    file_.write("\n]}\n");
    file_.commit();
  }

 private:
  template <class... Values>
  void add(const char* format, Values... values) {
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    file_.write(first_ ? "\n" : ",\n");
    file_.write(text);
    first_ = false;
  }

  AtomicFile file_;
  long long rank_;
  bool first_ = true;
};

struct UnderWay {
  const char* phase;
  double begin;  // seconds
};

class MemoryTrace final : public Callback, private PhaseWatcher {
 public:
  explicit MemoryTrace(const MemoryTraceOptions& options)
      : options_(options),
        count_(options.device, options.before),
        rows_(options.path + ".csv"),
        trace_(options.path + ".json", options.rank),
        reports_([this](const MemoryReport& report) { count_.add(report); }) {
    rows_.write("time,step,phase,allocated,peak\n");
    trace_.bytes(0, options.before);
  }

  // A run that fails, for want of memory perhaps, leaves what there is.
  ~MemoryTrace() override {
    try {
      finish();
    } catch (const std::exception& error) {
      log::warning(std::string("no trace of memory was written: ") + error.what());
    }
  }

  void at(Moment moment, const RunView& run, RunControl&) override {
    step_ = run.step;
    if (moment != Moment::run_end) return;
    finish();
    if (options_.reports)
      log::info("memory: {}, and {} for https://ui.perfetto.dev",
                shell_word(options_.path + ".csv"), shell_word(options_.path + ".json"));
  }

 private:
  void begin(Phase phase) override {
    end_segment();
    under_way_.push_back({name_of(phase), since_});
  }

  void end(Phase) override {
    end_segment();
    if (!finished_) trace_.phase(under_way_.back().phase, under_way_.back().begin, since_);
    under_way_.pop_back();
  }

  /// From one beginning or end of a phase to the next.
  void end_segment() {
    if (finished_) return;
    const char* phase = under_way_.empty() ? kOutside : under_way_.back().phase;
    bool moved = false;
    const auto bytes = count_.end_phase(moved);
    const double now = count_.seconds();
    const double since = std::exchange(since_, now);
    if (under_way_.empty() && !moved) return;
    char row[160];
    std::snprintf(row, sizeof row, "%.6f,%lld,%s,%lld,%lld\n", now, static_cast<long long>(step_),
                  phase, static_cast<long long>(bytes.now), static_cast<long long>(bytes.peak));
    rows_.write(row);
    if (bytes.peak > bytes.now) trace_.bytes(std::max(bytes.peak_at, since), bytes.peak);
    trace_.bytes(now, bytes.now);
  }

  void finish() {
    if (std::exchange(finished_, true)) return;
    rows_.commit();
    trace_.commit();
  }

  MemoryTraceOptions options_;
  ByteCount count_;
  AtomicFile rows_;
  ChromeTrace trace_;
  MemoryReports reports_;
  std::vector<UnderWay> under_way_;  // the innermost last
  double since_ = 0;                 // when the segment began
  std::int64_t step_ = 0;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Callback> make_memory_trace(const MemoryTraceOptions& options) {
  return std::make_unique<MemoryTrace>(options);
}

}  // namespace ddptrain
