#include "models/name_table.h"

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "models/nets.h"

namespace ddptrain {
namespace {

const NameTable kTable{.library = Library::timm,
                       .places = {{"features.1.*.", "stages.0.blocks.*."},
                                  {"features.", "stem."},
                                  {"classifier.0.", "head.", FormThere::kernel7}},
                       .parts = {{"scale", "gamma", FormThere::vector}, {"block.0.", "conv_dw."}},
                       .computed = {"position_index"}};

TEST(NameTable, ReplacesThePlaceAndThenThePart) {
  EXPECT_EQ(name_there(kTable, "features.1.12.block.0.weight").name,
            "stages.0.blocks.12.conv_dw.weight");
  EXPECT_EQ(name_there(kTable, "features.0.weight").name, "stem.0.weight");
  EXPECT_EQ(name_there(kTable, "features.1.3.scale").form, FormThere::vector);
  EXPECT_EQ(name_there(kTable, "other.weight").name, "other.weight");
}

TEST(NameTable, TellsTheShapesOfWeightsAndNotOfBiases) {
  EXPECT_EQ(name_there(kTable, "classifier.0.weight").form, FormThere::kernel7);
  EXPECT_EQ(name_there(kTable, "classifier.0.bias").form, FormThere::same);
  EXPECT_EQ(in_form(FormThere::kernel7, at::zeros({2, 98})).sizes(), (at::IntArrayRef{2, 2, 7, 7}));
  EXPECT_EQ(in_form(FormThere::kernel1, at::zeros({2, 3})).sizes(), (at::IntArrayRef{2, 3, 1, 1}));
  EXPECT_EQ(in_form(FormThere::vector, at::zeros({3, 1, 1})).sizes(), (at::IntArrayRef{3}));
}

TEST(NameTable, KnowsWhatANetworkComputesByItself) {
  EXPECT_TRUE(is_computed(kTable, "features.1.0.attn.position_index"));
  EXPECT_FALSE(is_computed(kTable, "features.1.0.attn.bias"));
}

TEST(NameTable, NumbersBlocksByStage) {
  std::vector<NameRow> rows;
  add_numbered_blocks(rows, "features", 1, "blocks", {1, 2});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2].ours, "features.3.");
  EXPECT_EQ(rows[2].theirs, "blocks.1.1.");
}

}  // namespace
}  // namespace ddptrain
