#include "base/output/long_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/output/log.h"
#include "base/output/progress.h"
#include "support/terminal.h"

namespace ddptrain {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

void work_until_shown(std::int64_t all) {
  LongWork work("reading texts", all);
  work.did(39);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  work.did();
}

TEST(LongWork, ShowsHowFarItIsAndErasesThat) {
  const auto text = test::on_terminal(80, [] { work_until_shown(100); });
  EXPECT_THAT(text, HasSubstr("####------  reading texts  40 %  left "));
  EXPECT_THAT(text, EndsWith("\r\033[J"));
}

TEST(LongWork, CountsWhatHasNoKnownEnd) {
  EXPECT_THAT(test::on_terminal(80, [] { work_until_shown(0); }), HasSubstr("reading texts  40\r"));
}

TEST(LongWork, FitsANarrowTerminal) {
  const auto text = test::on_terminal(22, [] { work_until_shown(100); });
  EXPECT_THAT(text, HasSubstr("reading texts  40 %\r"));
}

TEST(LongWork, OnADumbTerminalShowsNothing) {
  EXPECT_EQ(test::on_terminal(
                80, [] { work_until_shown(100); }, "TERM", "dumb"),
            "");
}

TEST(LongWork, IsASignOfLifeForEachPiece) {
  int heard = 0;
  const ProgressListener listener([&] { ++heard; });
  LongWork work("reading texts", 2);
  work.did();
  work.did();
  EXPECT_EQ(heard, 2);
}

}  // namespace
}  // namespace ddptrain
