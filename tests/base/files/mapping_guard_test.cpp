// Files that are cut while they are mapped. Each in a process of its own: what was lost is lost.
#include "base/files/mapping_guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <span>
#include <thread>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

constexpr std::size_t kBytes = 20000;

[[noreturn]] void leave(bool good) {
  std::cerr << lost_mapped_file() << std::endl;
  std::_Exit(good ? 3 : 70);
}

/// The first bytes of a file, never unmapped; writes to them do not reach it.
std::span<char> mapped(const std::string& path, std::size_t bytes = kBytes) {
  const InputFile file(path);
  auto* data = static_cast<char*>(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.descriptor(), 0));
  return {data, bytes};
}

int sum_of(std::span<const char> bytes) { return std::accumulate(bytes.begin(), bytes.end(), 0); }

TEST(MappingGuardDeathTest, ReadsZerosOfAFileThatWasCutAndNamesIt) {
  const TemporaryFolder folder;
  const auto path = folder.write("images", std::string(kBytes, 'a'));
  const auto read_cut_file = [&] {
    const auto bytes = mapped(path);
    const MappingGuard guard(bytes.data(), bytes.size(), path);
    check_mapped_files();
    std::filesystem::resize_file(path, 4096);
    leave(sum_of(bytes) == 4096 * 'a' && !lost_mapped_file().empty());
  };
  EXPECT_EXIT(read_cut_file(), testing::ExitedWithCode(3), "images' was cut");
}

TEST(MappingGuardDeathTest, LetsZerosBeWrittenTo) {
  const TemporaryFolder folder;
  const auto path = folder.write("images", std::string(kBytes, 'a'));
  const auto write_cut_file = [&] {
    const auto bytes = mapped(path);
    const MappingGuard guard(bytes.data(), bytes.size(), path);
    std::filesystem::resize_file(path, 0);
    const bool zeros = sum_of(bytes) == 0;
    bytes[kBytes - 1] = 7;
    leave(zeros && sum_of(bytes) == 7);
  };
  EXPECT_EXIT(write_cut_file(), testing::ExitedWithCode(3), "images' was cut");
}

TEST(MappingGuardDeathTest, HoldsInThreadsThatTakeNoOtherSignal) {
  const TemporaryFolder folder;
  const auto path = folder.write("images", std::string(kBytes, 'a'));
  const auto read_in_thread = [&] {
    const auto bytes = mapped(path);
    MappingGuard first(bytes.data(), bytes.size(), path);
    const MappingGuard guard(std::move(first));
    std::filesystem::resize_file(path, 0);
    std::thread([&] { leave(sum_of(bytes) == 0 && !lost_mapped_file().empty()); }).join();
  };
  EXPECT_EXIT(read_in_thread(), testing::ExitedWithCode(3), "images' was cut");
}

TEST(MappingGuardDeathTest, LeavesOtherBusErrorsDeadly) {
  const TemporaryFolder folder;
  const auto path = folder.write("images", std::string(kBytes, 'a'));
  const auto read_foreign = [&] {
    ::signal(SIGBUS, SIG_DFL);
    const auto bytes = mapped(path);
    const MappingGuard guard(bytes.data(), bytes.size(), path);
    std::_Exit(mapped(folder.write("empty", ""), 4096)[0]);
  };
  EXPECT_EXIT(read_foreign(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace ddptrain
