#include "base/files/machine_memory.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

/// A kernel's files below a folder.
class Kernel {
 public:
  Kernel() { write("/proc/meminfo", "MemTotal:  9000 kB\nMemAvailable:    1000 kB\n"); }
  void write(const std::string& file, const std::string& text) const { folder_.write(file, text); }
  /// A group of `limit` bytes that has taken `used`, `cache` of them files.
  void group(const std::string& name, const std::string& limit, int used, int cache) const {
    const auto folder = "/sys/fs/cgroup" + name;
    write(folder + "/memory.max", limit + "\n");
    write(folder + "/memory.current", std::to_string(used) + "\n");
    write(folder + "/memory.stat", "anon 5\ninactive_file " + std::to_string(cache) + "\n");
  }
  std::string root() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST(MachineMemory, IsWhatTheKernelSaysWithoutControlGroups) {
  const Kernel kernel;
  EXPECT_EQ(available_memory(kernel.root()), 1000 * 1024);
}

TEST(MachineMemory, IsWhatTheNarrowestGroupLeaves) {
  const Kernel kernel;
  kernel.write("/proc/self/cgroup", "0::/slurm/job_1\n");
  kernel.group("", "max", 7, 0);
  kernel.group("/slurm", "500000", 100000, 20000);
  kernel.group("/slurm/job_1", "900000", 50000, 0);
  EXPECT_EQ(available_memory(kernel.root()), 420000);
}

TEST(MachineMemory, IsNothingWhereAGroupIsFull) {
  const Kernel kernel;
  kernel.group("", "1000", 1200, 100);
  EXPECT_EQ(available_memory(kernel.root()), 0);
}

TEST(MachineMemory, IsUnknownWhereTheKernelSaysNothing) {
  const TemporaryFolder empty;
  EXPECT_FALSE(available_memory(empty.path()));
}

TEST(MachineMemory, OfThisMachineIsThere) { EXPECT_GT(available_memory().value_or(0), 1 << 20); }

}  // namespace
}  // namespace ddptrain
