// Samples that the model cannot take are refused before the first epoch.
#include "train/build/shapes.h"

#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::StartsWith;

/// Of five numbers, and of six from the third epoch on.
class Widening final : public DrawnSamples {
 public:
  Widening() : DrawnSamples(23, {}) {}
  std::vector<std::int64_t> changes_of_shape() const override { return {0, 2}; }
  Batch allocate_train(std::int64_t epoch, std::int64_t rows) const override {
    auto batch = allocate(Split::train, rows);
    batch.inputs = {at::zeros({rows, epoch < 2 ? 5 : 6}, at::kDouble)};
    return batch;
  }
};

TEST(Shapes, ThatTheModelCannotTakeAreNamedWithTheirEpoch) {
  auto world = single_world();
  auto t = small_training(world, {});
  t.recipe.model = Choice<Model>("sequential");
  t.data = std::make_unique<Widening>();
  try {
    try_shapes(t);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    EXPECT_THAT(error.what(), StartsWith("model 'sequential' cannot take the training samples of "
                                         "shape [6] that begin with epoch 3: "));
  }
}

TEST(Shapes, ThatTheModelTakesAreTried) {
  auto world = single_world();
  auto t = small_training(world, {});
  EXPECT_NO_THROW(try_shapes(t));
  EXPECT_EQ(tried_output(t, t.data->allocate(Split::valid, 2), "samples").sizes(),
            (std::vector<std::int64_t>{2, 3}));
}

/// What a model throws for its input.
template <class Thrown>
class Throws final : public Model {
 public:
  explicit Throws(Thrown thrown) : thrown_(std::move(thrown)) {}
  at::Tensor forward(const at::Tensor&, const Pass&) override { throw thrown_; }

 private:
  Thrown thrown_;
};

template <class Thrown>
SmallTraining throwing(World& world, Thrown thrown) {
  auto t = small_training(world, {});
  t.recipe.model = Choice<Model>("sequential");
  t.engine = make_single_engine([&] { return std::make_unique<Throws<Thrown>>(thrown); }, {});
  return t;
}

TEST(Shapes, LeaveErrorsAloneThatAreNotAboutThem) {
  auto world = single_world();
  auto broken = throwing(world, Error(Exit::data, "a broken disk"));
  try {
    tried_output(broken, broken.data->allocate(Split::valid, 1), "samples");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a broken disk");
  }
  auto refused = throwing(world, Error(Exit::recipe, "too wide"));
  try {
    tried_output(refused, refused.data->allocate(Split::valid, 1), "samples");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "model 'sequential' cannot take the samples: too wide");
  }
}

TEST(Shapes, LeaveErrorsOfTheDeviceAlone) {
  auto world = single_world();
  for (const char* words : {"CUDA error: no kernel image is available for execution on the device",
                            "CUDNN_STATUS_NOT_INITIALIZED", "CUDA out of memory"}) {
    auto failing = throwing(world, c10::Error({"", "", 0}, words));
    EXPECT_THROW(tried_output(failing, failing.data->allocate(Split::valid, 1), "samples"),
                 c10::Error)
        << words;
  }
}

}  // namespace
}  // namespace ddptrain
