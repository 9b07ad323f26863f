#include "config/units.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

using Unit = Duration::Unit;

Duration duration(const std::string& text) {
  Duration value;
  std::string why;
  EXPECT_TRUE(parse(Node::scalar(text), value, why)) << text << ": " << why;
  return value;
}

template <class T>
std::string refusal(const std::string& text) {
  T value;
  std::string why;
  EXPECT_FALSE(parse(Node::scalar(text), value, why)) << text;
  return why;
}

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(duration("5 epochs"), epochs(5));
  EXPECT_EQ(duration("5epochs"), epochs(5));
  EXPECT_EQ(duration("1 epoch"), epochs(1));
  EXPECT_EQ(duration("0.5 epochs"), epochs(0.5));
  EXPECT_EQ(duration("1000 steps"), steps(1000));
  EXPECT_EQ(duration("1e3 steps"), steps(1000));
  EXPECT_EQ(duration("20000 samples"), (Duration{20000, Unit::samples}));
  EXPECT_EQ(duration("30 s"), (Duration{30, Unit::seconds}));
  EXPECT_EQ(duration("2 min"), (Duration{120, Unit::seconds}));
  EXPECT_EQ(duration("1 h 30 min"), (Duration{5400, Unit::seconds}));
  EXPECT_EQ(duration("1h30min"), (Duration{5400, Unit::seconds}));
  EXPECT_EQ(duration("75 %"), (Duration{0.75, Unit::share}));
}

TEST(Duration, RefusesABareNumberWithTheTwoLikeliestSpellings) {
  EXPECT_EQ(refusal<Duration>("5"), "'5' has no unit; write '5 epochs' or '5 steps'");
  EXPECT_EQ(refusal<Duration>("1"), "'1' has no unit; write '1 epoch' or '1 step'");
}

TEST(Duration, SaysWhatIsWrong) {
  EXPECT_EQ(refusal<Duration>("5 epcohs"), "'epcohs' is not a unit; did you mean 'epochs'?");
  EXPECT_EQ(refusal<Duration>("0 epochs"), "a duration must be above 0");
  EXPECT_EQ(refusal<Duration>("-1 steps"), "a duration must be above 0");
  EXPECT_EQ(refusal<Duration>("1.5 steps"), "steps and samples are whole numbers");
  EXPECT_EQ(refusal<Duration>("120 %"), "a share of the run is at most 100 %");
  EXPECT_EQ(refusal<Duration>("5 epochs 3 steps"),
            "only times have several parts, as in '1 h 30 min'");
  EXPECT_EQ(refusal<Duration>("long"),
            "'long' is not a duration; write '5 epochs' or '1000 steps'");
  EXPECT_EQ(refusal<Duration>("1_000 steps"),
            "'1_000 steps' is not a duration; write '5 epochs' or '1000 steps'");
}

TEST(Duration, TextReadsBack) {
  for (const char* text : {"5 epochs", "1 epoch", "1000 steps", "20000 samples", "30 s", "2 min",
                           "90 min", "75 %", "0.5 epochs"})
    EXPECT_EQ(to_text(duration(text)), text);
  EXPECT_EQ(to_text(duration("2 h")), "2 h");
}

TEST(Size, ReadsBinaryAndDecimalUnits) {
  Size size;
  std::string why;
  ASSERT_TRUE(parse(Node::scalar("64 MiB"), size, why));
  EXPECT_EQ(size.bytes, 64 << 20);
  EXPECT_EQ(to_text(size), "64 MiB");
  ASSERT_TRUE(parse(Node::scalar("25MB"), size, why));
  EXPECT_EQ(size.bytes, 25'000'000);
  EXPECT_EQ(refusal<Size>("64"), "'64' has no unit; write '64 MiB' or '64 B'");
  ASSERT_TRUE(parse(Node::scalar("12.5"), size, why, "MiB"));
  EXPECT_EQ(to_text(size), "12800 KiB");
  ASSERT_TRUE(parse(Node::scalar("1 GiB"), size, why, "MiB"));
  EXPECT_EQ(to_text(size), "1 GiB");
  EXPECT_EQ(refusal<Size>("64 mib"), "'mib' is not a unit; did you mean 'MiB'?");
  EXPECT_EQ(refusal<Size>("0.3 B"), "'0.3 B' is not a whole number of bytes");
  EXPECT_EQ(refusal<Size>("1 GiB 3 MiB"), "'1 GiB 3 MiB' is not a size; write '64 MiB'");
}

TEST(Share, IsAPercentageOrANumberUpToOne) {
  Share share;
  std::string why;
  ASSERT_TRUE(parse(Node::scalar("75 %"), share, why));
  EXPECT_EQ(share.value, 0.75);
  ASSERT_TRUE(parse(Node::scalar("0.2"), share, why));
  EXPECT_EQ(share.value, 0.2);
  EXPECT_EQ(refusal<Share>("75"), "'75' is above 1; write '75 %' or a number in 0 .. 1");
  EXPECT_EQ(refusal<Share>("175 %"), "a share is between 0 % and 100 %");
}

}  // namespace
}  // namespace ddptrain
