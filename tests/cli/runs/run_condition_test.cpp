#include "cli/runs/run_condition.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ddptrain {
namespace {

bool holds_for(const std::string& text, const RunCell& cell) {
  const auto conditions = read_conditions(text);
  return conditions.size() == 1 && holds(conditions[0], cell);
}

TEST(RunConditions, ComparesNumbersAsNumbersAndTextsAsTexts) {
  const RunCell rate{"0.001", 0.001}, done{"done", {}}, nothing;
  EXPECT_TRUE(holds_for("lr=1e-3", rate));
  EXPECT_TRUE(holds_for("lr == 0.0010", rate));
  EXPECT_FALSE(holds_for("lr!=1e-3", rate));
  EXPECT_TRUE(holds_for("lr>=0.001", rate));
  EXPECT_TRUE(holds_for("lr<=0.001", rate));
  EXPECT_FALSE(holds_for("lr>0.001", rate));
  EXPECT_FALSE(holds_for("lr<0.001", rate));
  EXPECT_TRUE(holds_for("state=done", done));
  EXPECT_TRUE(holds_for("state!=killed", done));
  EXPECT_FALSE(holds_for("state<killed", done));
  EXPECT_FALSE(holds_for("lr=done", rate));
  EXPECT_TRUE(holds_for("lr!=3", nothing));
  EXPECT_FALSE(holds_for("lr=3", nothing));
}

TEST(RunConditions, MayBeSeveral) {
  const auto conditions = read_conditions("state=done,valid/loss<0.5");
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_EQ(conditions[1].column, "valid/loss");
  EXPECT_EQ(conditions[1].value, "0.5");
  for (const auto* wrong : {"done", "", "=3", "a=1,,b=2", "seed>", "seed=", "seed>>4", "seed=>4"})
    EXPECT_THROW(read_conditions(wrong), Error) << wrong;
}

}  // namespace
}  // namespace ddptrain
