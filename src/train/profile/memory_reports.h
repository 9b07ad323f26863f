// What LibTorch's allocators report of tensors.
#pragma once

#include <c10/core/Allocator.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace ddptrain {

struct MemoryReport {
  std::int64_t bytes = 0;      // negative: they were freed
  std::int64_t allocated = 0;  // on the device, after it; on the CPU, of those that were reported
  c10::Device device = c10::kCPU;
};

/// Calls `report` for each allocation and release in this thread and in backward passes that begin
/// in it, while it lives, from the thread that makes it. On the CPU memory that is older is not
/// reported when it is freed.
class MemoryReports {
 public:
  explicit MemoryReports(std::function<void(const MemoryReport&)> report);
  ~MemoryReports();
  MemoryReports(const MemoryReports&) = delete;
  MemoryReports& operator=(const MemoryReports&) = delete;

 private:
  int log_level_;  // as it was: LibTorch warns of memory that is older
};

}  // namespace ddptrain
