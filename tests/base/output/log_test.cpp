#include "base/output/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets.h"

namespace ddptrain {
namespace {

TEST(Log, PutsAPlaceBeforeAnErrorLikeACompiler) {
  testing::internal::CaptureStderr();
  log::open(log::Level::normal, 0, "");
  log::info("with {braces}");
  log::warning("slow");
  log::error("no", {"a.yaml", 3, 5});
  log::debug("hidden");
  log::status("not on a terminal");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "with {braces}\nwarning: slow\na.yaml:3:5: error: no\n");
}

TEST(Log, NamesAFileThatCannotBeWritten) {
  EXPECT_THAT([] { log::open(log::Level::normal, 0, "/dev/null/run.log"); },
              testing::ThrowsMessage<Error>(
                  testing::StartsWith("cannot write the log '/dev/null/run.log': ")));
  log::open(log::Level::normal, 0, "");
}

TEST(Log, WritesALineForALine) {
  testing::internal::CaptureStderr();
  log::open(log::Level::normal, 0, "");
  log::info("::error::in\na name");
  log::error("\x1b[2J", {"a\nb.yaml", 3, 5});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\\x3a:error::in\\na name\na\\nb.yaml:3:5: error: \\x1b[2J\n");
}

TEST(Log, TellsNoSecret) {
  keep_secret("open sesame", "${env:CAVE_KEY}");
  testing::internal::CaptureStderr();
  log::open(log::Level::normal, 0, "");
  std::string heard;
  const log::WarningListener listener([&](const std::string& line) { heard = line; });
  log::warning("'open sesame' at https://me:word@a.b");
  log::error("no", {"open sesame/a.yaml", 3, 5});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: '${env:CAVE_KEY}' at https://*******@a.b\n"
            "${env:CAVE_KEY}/a.yaml:3:5: error: no\n");
  EXPECT_EQ(heard, "'${env:CAVE_KEY}' at https://*******@a.b");
}

TEST(Log, OfOtherRanksIsSilentButWritesItsFile) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("ddptrain_log_" + std::to_string(::getpid())))
          .string();
  testing::internal::CaptureStderr();
  log::open(log::Level::verbose, 1, path);
  log::info("from rank 1");
  log::open(log::Level::normal, 0, "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(read_text(path), testing::MatchesRegex("[-0-9]+T[:0-9]+\\.[0-9]+ from rank 1\n"));
  std::filesystem::remove(path);
}

TEST(Log, OfOtherRanksAnnouncesUnlessItIsQuiet) {
  testing::internal::CaptureStderr();
  log::open(log::Level::normal, 1, "");
  log::announce("node 1");
  log::info("hidden");
  log::open(log::Level::quiet, 1, "");
  log::announce("node 1, quietly");
  log::open(log::Level::normal, 0, "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "node 1\n");
}

TEST(CheckDeathTest, NamesTheExpressionAndAborts) {
  EXPECT_DEATH(DDP_CHECK(1 + 1 == 3, "arithmetic"), "arithmetic\n.*1 \\+ 1 == 3");
}

}  // namespace
}  // namespace ddptrain
