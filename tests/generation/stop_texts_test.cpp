#include "generation/stop_texts.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(StopTexts, EndATextBeforeThem) {
  StopTexts stops({"\n\n"});
  EXPECT_EQ(stops.add("one\ntwo\n\nthree"), "one\ntwo");
  EXPECT_TRUE(stops.stopped());
  EXPECT_EQ(stops.finish(), "");
}

TEST(StopTexts, AreFoundOverTheBordersOfPieces) {
  StopTexts stops({"END"});
  EXPECT_EQ(stops.add("the E"), "the ");
  EXPECT_EQ(stops.add("N"), "");
  EXPECT_EQ(stops.add("E"), "EN");
  EXPECT_EQ(stops.add("ND of it"), "");
  EXPECT_TRUE(stops.stopped());
}

TEST(StopTexts, TheFirstOfSeveralCounts) {
  StopTexts stops({"later", "soon"});
  EXPECT_EQ(stops.add("so soon, later"), "so ");
  EXPECT_TRUE(stops.stopped());
}

TEST(StopTexts, WhatWasHeldBackIsShownAtTheEnd) {
  StopTexts stops({"abab"});
  EXPECT_EQ(stops.add("xaba"), "x");
  EXPECT_EQ(stops.add("a"), "aba") << "only the last a may begin one";
  EXPECT_FALSE(stops.stopped());
  EXPECT_EQ(stops.finish(), "a");
}

TEST(StopTexts, NoneLetsEverythingPass) {
  StopTexts stops({});
  EXPECT_EQ(stops.add("text"), "text");
  EXPECT_FALSE(stops.stopped());
}

}  // namespace
}  // namespace ddptrain
