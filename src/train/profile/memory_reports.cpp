#include "train/profile/memory_reports.h"

#include <c10/util/Logging.h>

#include <utility>

C10_DECLARE_int(caffe2_log_level);

namespace ddptrain {
namespace {

struct Reporter final : c10::MemoryReportingInfoBase {
  explicit Reporter(std::function<void(const MemoryReport&)> on_report)
      : report(std::move(on_report)) {}
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t allocated, std::size_t,
                         c10::Device device) override {
    report({bytes, static_cast<std::int64_t>(allocated), device});
  }
  bool memoryProfilingEnabled() const override { return true; }
  std::function<void(const MemoryReport&)> report;
};

}  // namespace

MemoryReports::MemoryReports(std::function<void(const MemoryReport&)> report)
    : log_level_(std::exchange(FLAGS_caffe2_log_level, static_cast<int>(c10::GLOG_ERROR))) {
  c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE,
                                   std::make_shared<Reporter>(std::move(report)));
}

MemoryReports::~MemoryReports() {
  c10::ThreadLocalDebugInfo::_pop(c10::DebugInfoKind::PROFILER_STATE);
  FLAGS_caffe2_log_level = log_level_;
}

}  // namespace ddptrain
