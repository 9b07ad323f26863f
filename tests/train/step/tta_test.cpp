#include "train/step/tta.h"

#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "losses/loss.h"
#include "support/node.h"

namespace ddptrain {
namespace {

std::unique_ptr<Loss> loss_called(const std::string& name) {
  return catalog<Loss>().build(fragment<Loss>(name), LossContext{});
}

/// An output of two classes whose probabilities are p and 1 - p.
at::Tensor sure_of(double p) {
  return at::tensor({std::log(p) + 7, std::log(1 - p) + 7}, at::kDouble).reshape({1, 2});
}

double first_probability(const at::Tensor& output) {
  return at::softmax(output, 1)[0][0].item<double>();
}

TEST(TestTimeAugmentation, RepeatsEachBatchRightBehindIt) {
  const auto all = with_passes({{{0, 1}, 0}, {{2}, 2}}, 2);
  ASSERT_EQ(all.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(all[i].pass, static_cast<std::int64_t>(i % 3));
    EXPECT_EQ(all[i].first_row, i < 3 ? 0 : 2);
  }
}

// torch.lerp(aug_preds.mean(0), preds, beta) of probabilities, as in fastai's Learner.tta.
TEST(TestTimeAugmentation, AveragesProbabilities) {
  const auto loss = loss_called("cross_entropy");
  const std::vector<at::Tensor> outputs{sure_of(0.9), sure_of(0.5), sure_of(0.1)};
  const auto mean = combined(outputs, *loss, {.n = 2, .beta = 0.25});
  EXPECT_NEAR(first_probability(mean), 0.75 * 0.3 + 0.25 * 0.9, 1e-12);
  EXPECT_NEAR(first_probability(combined(outputs, *loss, {.n = 2, .beta = 1})), 0.9, 1e-12);
}

TEST(TestTimeAugmentation, CanTakeTheLargest) {
  const auto loss = loss_called("cross_entropy");
  const auto most = combined({sure_of(0.6), sure_of(0.8), sure_of(0.3)}, *loss, {.use_max = true});
  EXPECT_NEAR(std::exp(most[0][0].item<double>()), 0.8, 1e-12);
  EXPECT_NEAR(std::exp(most[0][1].item<double>()), 0.7, 1e-12);
}

at::Tensor numbers(std::initializer_list<double> values) {
  return at::tensor(std::vector<double>(values), at::kDouble).reshape({1, -1});
}

// A crop does not show all of an image: there the other passes count, or the plain one alone.
TEST(TestTimeAugmentation, LeavesOutWhatAPassDoesNotShow) {
  const auto loss = loss_called("mse");
  const std::vector<at::Tensor> outputs{numbers({1, 1, 1}), numbers({3, 3, 3}), numbers({5, 5, 5})};
  const Align align = [](const at::Tensor& predictions, std::size_t pass) {
    return predictions.add(pass == 1 ? numbers({0, 0, NAN}) : numbers({NAN, 0, NAN}));
  };
  const auto mean = combined(outputs, *loss, {.n = 2, .beta = 0.5}, align);
  EXPECT_TRUE(mean.allclose(numbers({2, 2.5, 1}), 0, 1e-12)) << mean;
  const auto most = combined(outputs, *loss, {.n = 2, .use_max = true}, align);
  EXPECT_TRUE(most.allclose(numbers({3, 5, 1}), 0, 1e-12)) << most;
}

TEST(TestTimeAugmentation, HidesNothingThatIsNotANumber) {
  const auto loss = loss_called("mse");
  const Align align = [](const at::Tensor& predictions, std::size_t) { return predictions; };
  const auto mean = combined({numbers({1}), numbers({NAN})}, *loss, {.n = 1}, align);
  EXPECT_TRUE(mean.isnan().all().item<bool>());
}

TEST(TestTimeAugmentation, KnowsWhatALossIsFor) {
  const auto output = at::tensor({0.0, std::log(3.0)}, at::kDouble).reshape({1, 2});
  const auto yes = loss_called("bce_with_logits")->activation();
  EXPECT_TRUE(predictions(output, yes).allclose(at::sigmoid(output)));
  EXPECT_TRUE(output_of(predictions(output, yes), yes).allclose(output));
  const auto number = loss_called("mse")->activation();
  EXPECT_TRUE(predictions(output, number).equal(output));
  EXPECT_TRUE(output_of(output, number).equal(output));
  for (const auto* name : {"cross_entropy", "nll", "focal", "fastai_label_smoothing"}) {
    const auto classes = loss_called(name)->activation();
    EXPECT_TRUE(predictions(output, classes).allclose(at::softmax(output, 1))) << name;
  }
}

TEST(TestTimeAugmentation, StaysFiniteWhereAllWereSureAndWrong) {
  const auto softmax = loss_called("cross_entropy")->activation();
  const auto output = at::tensor({1000.0, -1000.0}, at::kDouble).reshape({1, 2});
  EXPECT_TRUE(std::isfinite(output_of(predictions(output, softmax), softmax)[0][1].item<double>()));
}

}  // namespace
}  // namespace ddptrain
