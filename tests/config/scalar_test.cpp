#include "config/scalar.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

std::string refused_integer(const std::string& text) {
  std::string why;
  EXPECT_FALSE(read_integer(Node::scalar(text), why)) << text;
  return why;
}

TEST(Scalar, IntegersAreDecimal) {
  std::string why;
  EXPECT_EQ(read_integer(Node::scalar("-12"), why), -12);
  EXPECT_EQ(read_integer(Node::scalar("1e3"), why), 1000);
  EXPECT_EQ(read_integer(Node::scalar("9223372036854775807"), why), INT64_MAX);
  EXPECT_EQ(refused_integer("010"), "'010' is not an integer; write 10 (no leading zeros)");
  EXPECT_EQ(refused_integer("0x10"), "'0x10' is not an integer; write 16 (decimal)");
  EXPECT_EQ(refused_integer("1_000"),
            "'1_000' is not an integer; write 1000 (no '_' between digits)");
  EXPECT_EQ(refused_integer("1.5"), "'1.5' is not an integer");
  EXPECT_EQ(refused_integer("9223372036854775808"),
            "'9223372036854775808' is not an integer of 64 bits");
}

TEST(Scalar, QuotesMakeText) {
  std::string why;
  EXPECT_FALSE(read_integer(Node::quoted_text("5"), why));
  EXPECT_EQ(why, "the text \"5\" is not an integer; write 5 without quotes");
  EXPECT_EQ(read_text(Node::quoted_text("5"), why), "5");
  EXPECT_FALSE(read_text(Node::scalar("5"), why));
  EXPECT_EQ(why, "'5' is not text; write \"5\" with quotes");
}

TEST(Scalar, NumbersAreFiniteAndNeedNoDot) {
  std::string why;
  EXPECT_EQ(read_number(Node::scalar("1e-4"), why), 1e-4);
  EXPECT_EQ(read_number(Node::scalar(".5"), why), 0.5);
  EXPECT_EQ(read_number(Node::scalar("+5."), why), 5);
  for (const char* text : {".inf", "-.inf", ".nan", "1e999", "1e", "e5", ".", "-", "01.5", "1 2"})
    EXPECT_FALSE(read_number(Node::scalar(text), why)) << text;
  read_number(Node::scalar("1e999"), why);
  EXPECT_EQ(why, "'1e999' is not a number that a double can hold");
}

TEST(Scalar, OnlyTrueAndFalseAreSwitches) {
  std::string why;
  EXPECT_EQ(read_boolean(Node::scalar("true"), why), true);
  read_boolean(Node::scalar("yes"), why);
  EXPECT_EQ(why, "'yes' is not true or false; write true");
  for (const char* text : {"yes", "no", "on", "off", "True", "FALSE", "1", "0"}) {
    EXPECT_FALSE(read_boolean(Node::scalar(text), why)) << text;
    EXPECT_EQ(why.find("'" + std::string(text) + "' is not true or false"), 0u);
  }
}

}  // namespace
}  // namespace ddptrain
