// Weights that a run starts from, and files of weights that it cannot start from.
#include "train/transfer/initial_weights.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "support/temporary_folder.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::StartsWith;

/// A run whose recipe names a file with these tensors.
class StartFromWeights : public testing::Test {
 protected:
  StartFromWeights() : world_(single_world()), t_(small_training(world_, {})) {}

  void write(const std::vector<NamedTensor>& tensors) {
    write_safetensors(file_, {tensors, {}});
    t_.recipe.model = fragment<Model>({{"type", "sequential"},
                                       {"input", {5}},
                                       {"layers", {{{"type", "linear"}, {"out", 3}}}},
                                       {"weights", file_}});
  }
  std::vector<NamedTensor> filled(double value) const {
    auto tensors = t_.engine->model().state();
    for (auto& named : tensors) named.tensor = at::full_like(named.tensor.detach(), value);
    return tensors;
  }
  std::string refusal() {
    try {
      start_from_weights(t_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
      return error.what();
    }
    return "";
  }

  const TemporaryFolder folder_;
  const std::string file_ = folder_ / "start.safetensors";
  World world_;
  SmallTraining t_;
};

TEST_F(StartFromWeights, TakesAllOfThem) {
  const auto tensors = filled(0.25);
  write(tensors);
  EXPECT_EQ(refusal(), "");
  for (std::size_t i = 0; i < tensors.size(); ++i)
    EXPECT_TRUE(at::equal(t_.engine->model().state()[i].tensor, tensors[i].tensor));
}

TEST_F(StartFromWeights, LeavesTheModelAloneWhereTheRecipeNamesNone) {
  const auto before = t_.engine->model().state().front().tensor.detach().clone();
  t_.recipe.model = fragment<Model>(
      {{"type", "sequential"}, {"input", {5}}, {"layers", {{{"type", "linear"}, {"out", 3}}}}});
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(at::equal(t_.engine->model().state().front().tensor, before));
}

TEST_F(StartFromWeights, RefusesAFileOfAnotherModel) {
  write({{"other.weight", at::ones({2})}});
  EXPECT_THAT(refusal(), StartsWith("model.weights: '" + file_ + "' has no tensor that fits: "));
}

TEST_F(StartFromWeights, RefusesAPartUnlessThatIsWanted) {
  auto tensors = filled(0.25);
  tensors.erase(tensors.begin());
  write(tensors);
  const auto why = refusal();
  EXPECT_THAT(why, StartsWith("model.weights: '" + file_ + "' does not fit: "));
  EXPECT_THAT(why, HasSubstr("; 'remap' renames, and 'strict: false' takes what fits"));
  t_.recipe.model = fragment<Model>({{"type", "sequential"},
                                     {"input", {5}},
                                     {"layers", {{{"type", "linear"}, {"out", 3}}}},
                                     {"weights", {{"file", file_}, {"strict", false}}}});
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(at::equal(t_.engine->model().state()[1].tensor, tensors[0].tensor));
}

}  // namespace
}  // namespace ddptrain
