// Files that are cut while they are mapped. Each in a process of its own: what was lost is lost.
#include "sources/files/mapping_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "sources/files/mapped_file.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

[[noreturn]] void leave(bool good) {
  std::cerr << lost_mapped_file() << std::endl;
  std::_Exit(good ? 3 : 70);
}

int sum_of(const MappedFile& file) {
  const auto bytes = file.bytes();
  return std::accumulate(bytes.begin(), bytes.end(), 0);
}

TEST(MappingGuardDeathTest, ReadsZerosOfAFileThatWasCutAndNamesIt) {
  const TemporaryFolder folder;
  const auto path = folder.write("images", std::string(20000, 'a'));
  const auto read_cut_file = [&] {
    const MappedFile file(path);
    check_mapped_files();
    std::filesystem::resize_file(path, 4096);
    leave(sum_of(file) == 4096 * 'a' && !lost_mapped_file().empty());
  };
  EXPECT_EXIT(read_cut_file(), testing::ExitedWithCode(3), "images' was cut");
}

TEST(MappingGuardDeathTest, HoldsInThreadsThatTakeNoOtherSignal) {
  const TemporaryFolder folder;
  const auto path = folder.write("images", std::string(20000, 'a'));
  const auto read_in_thread = [&] {
    MappedFile first(path);
    const MappedFile file(std::move(first));
    std::filesystem::resize_file(path, 0);
    std::thread([&] { leave(sum_of(file) == 0 && !lost_mapped_file().empty()); }).join();
  };
  EXPECT_EXIT(read_in_thread(), testing::ExitedWithCode(3), "images' was cut");
}

TEST(MappingGuardDeathTest, LeavesOtherBusErrorsDeadly) {
  const TemporaryFolder folder;
  const auto path = folder.write("images", std::string(20000, 'a'));
  const auto read_foreign = [&] {
    ::signal(SIGBUS, SIG_DFL);
    const MappedFile file(path);
    FILE* other = std::fopen((folder / "other").c_str(), "w+");
    const auto* bytes =
        static_cast<const char*>(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, ::fileno(other), 0));
    std::_Exit(bytes[0]);
  };
  EXPECT_EXIT(read_foreign(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace ddptrain
