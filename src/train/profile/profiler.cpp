#include "train/profile/profiler.h"

#include <c10/util/ThreadLocalDebugInfo.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/output/log.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "train/profile/operator_times.h"

namespace torch::autograd::profiler {
// Of torch/csrc/profiler/kineto_shim.h, whose includes LibTorch does not bring.
void addMetadataJson(const std::string& key, const std::string& value);
}  // namespace torch::autograd::profiler

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
namespace kineto = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;

constexpr std::int64_t kWarmUpSteps = 5;
constexpr std::size_t kMostOperators = 10;

/// Kernels are recorded where the vendor's library does that: for CUDA, by CUPTI.
std::set<ActivityType> activities(c10::DeviceType device) {
  std::set<ActivityType> all{ActivityType::CPU};
  if (device != c10::kCPU) all.insert(ActivityType::CUDA);
  return all;
}

/// Of all threads: replicas and backward passes have theirs.
ProfilerConfig profiler_config() {
  torch::profiler::impl::ExperimentalConfig config;
  config.profile_all_threads = true;
  return ProfilerConfig(ProfilerState::KINETO, /*report_input_shapes=*/false,
                        /*profile_memory=*/false, /*with_stack=*/false, /*with_flops=*/false,
                        /*with_modules=*/false, config);
}

bool is_phase(const kineto::KinetoEvent& event) {
  return event.scope() == static_cast<std::uint8_t>(at::RecordScope::USER_SCOPE);
}

/// Operators of the host; where a device computes, its kernels.
std::vector<TracedEvent> operators_of(const kineto::ProfilerResult& result,
                                      c10::DeviceType device) {
  std::vector<TracedEvent> events;
  for (const auto& event : result.events()) {
    if (event.deviceType() != device || is_phase(event) || event.isAsync()) continue;
    const auto thread = device == c10::kCPU ? event.startThreadId()
                                            : static_cast<std::uint64_t>(event.deviceIndex());
    events.push_back({event.name(), thread, event.startNs(), event.endNs()});
  }
  return events;
}

/// While it lives, Kineto does not see who else observes allocations in this thread
/// (MemoryReports): it takes that for a profiler.
class DebugInfoReset {
 public:
  DebugInfoReset() { c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(nullptr); }
  ~DebugInfoReset() { c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(others_); }
  DebugInfoReset(const DebugInfoReset&) = delete;
  DebugInfoReset& operator=(const DebugInfoReset&) = delete;

 private:
  std::shared_ptr<c10::ThreadLocalDebugInfo> others_ = c10::ThreadLocalDebugInfo::current();
};

/// The file appears whole.
void save(kineto::ProfilerResult& result, const std::string& path) {
  const auto temporary = temporary_name(path) + ".json";
  result.save(temporary);
  if (!fs::exists(temporary)) throw Error(Exit::data, "LibTorch could not write '{}'", temporary);
  fs::rename(temporary, path);
}

class Profiler final : public Callback {
 public:
  explicit Profiler(const ProfileOptions& options) : options_(options) {}
  ~Profiler() override {
    if (recording_) disabled();
  }

  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::run_begin) {
      first_ = run.step + warm_up(run.total_steps - run.step);
      if (first_ == run.step) begin();
    } else if (moment == Moment::step_end) {
      if (!done_ && !recording_ && run.step == first_) {
        begin();
      } else if (recording_ && run.step >= first_ + options_.steps) {
        end();
      }
    } else if (moment == Moment::run_end) {
      if (recording_) end();
      report();
    }
  }

 private:
  static std::unique_ptr<kineto::ProfilerResult> disabled() {
    const DebugInfoReset reset;
    return kineto::disableProfiler();
  }

  /// Steps before the first recorded one: fewer in a run that is too short for all of them.
  std::int64_t warm_up(std::int64_t steps_left) const {
    if (steps_left <= 0) return kWarmUpSteps;  // of a run that is measured in time
    return std::clamp<std::int64_t>(steps_left - options_.steps, 0, kWarmUpSteps);
  }

  void begin() {
    const auto config = profiler_config();
    const DebugInfoReset reset;
    try {
      kineto::prepareProfiler(config, activities(options_.device));
      kineto::enableProfiler(config, activities(options_.device));
      // As torch.profiler names ranks: tools that read the traces of several (HTA) look for it.
      kineto::addMetadataJson("distributedInfo", fmt::format("{{\"rank\": {}, \"world_size\": {}}}",
                                                             options_.rank, options_.ranks));
      recording_ = true;
    } catch (const std::exception& error) {
      fail(error);
    }
  }

  void end() {
    recording_ = false;
    done_ = true;
    try {
      const auto result = disabled();
      if (options_.reports) add_table(*result);
      save(*result, options_.path);
    } catch (const std::exception& error) {
      fail(error);
    }
  }

  void fail(const std::exception& error) {
    done_ = failed_ = true;
    log::warning("no profile was written: {}",
                 std::string(error.what(), std::strcspn(error.what(), "\n")));
  }

  void add_table(const kineto::ProfilerResult& result) {
    auto events = operators_of(result, options_.device);
    if (events.empty()) events = operators_of(result, c10::kCPU);
    const auto all = slowest(events, events.size());
    std::uint64_t total = 0;
    for (const auto& each : all) total += each.self;
    table_ = to_lines(slowest(std::move(events), kMostOperators), total,
                      terminal_columns(STDERR_FILENO));
  }

  void report() const {
    if (!options_.reports || failed_) return;
    if (!done_) return log::info("the run ended before the steps that --profile records");
    log::info("profile: {} (open it in https://ui.perfetto.dev or chrome://tracing)",
              shell_word(options_.path));
    for (const auto& line : table_) log::info(line);
  }

  ProfileOptions options_;
  std::int64_t first_ = 0;  // steps made before the first that is recorded
  bool recording_ = false;
  bool done_ = false;
  bool failed_ = false;
  std::vector<std::string> table_;
};

}  // namespace

std::unique_ptr<Callback> make_profiler(const ProfileOptions& options) {
  return std::make_unique<Profiler>(options);
}

}  // namespace ddptrain
