#include "sources/synthetic/draw_all.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/output/progress.h"

namespace ddptrain {
namespace {

TEST(DrawAll, DrawsEachOnce) {
  std::vector<int> drawn(1000);
  draw_all(drawn.size(), [&](std::size_t i) { ++drawn[i]; });
  EXPECT_EQ(drawn, std::vector<int>(1000, 1));
}

TEST(DrawAll, ThrowsTheErrorOfTheFirst) {
  try {
    draw_all(1000, [](std::size_t i) {
      if (i >= 10) throw std::runtime_error(std::to_string(i));
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "10");
  }
}

// As Ctrl-C ends `ddptrain data make`.
TEST(DrawAll, EndsSoonWhereAListenerThrows) {
  struct Stop {};
  std::atomic<int> drawn = 0;
  const ProgressListener listener([&] {
    if (drawn >= 5) throw Stop();
  });
  EXPECT_THROW(draw_all(100000, [&](std::size_t) { ++drawn; }), Stop);
  EXPECT_LT(drawn, 1000);
}

}  // namespace
}  // namespace ddptrain
