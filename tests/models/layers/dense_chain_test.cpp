// Chains of layers as one node of the graph, compared with LibTorch's operators one by one, which a
// pass with recomputation takes.
#include "models/layers/dense_chain.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <cmath>
#include <functional>

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/nets.h"
#include "models/operators/dense_kernels.h"

namespace ddptrain {
namespace {

using nlohmann::json;

ModelContext numbers(std::int64_t count) {
  ModelContext context;
  context.data.sample = {count};
  context.data.numbers = 3;
  return context;
}

/// Images of one row of pixels.
ModelContext features(std::int64_t count) {
  ModelContext context;
  context.data.sample = {1, 1, count};
  context.data.classes = {"a", "b", "c"};
  return context;
}

ModelContext table(std::int64_t count, std::vector<std::int64_t> values) {
  auto context = numbers(count);
  context.data.cardinalities = std::move(values);
  return context;
}

/// Codes below `values` and numbers.
std::vector<at::Tensor> table_rows(std::int64_t rows, std::vector<std::int64_t> values,
                                   std::int64_t count, at::ScalarType type) {
  std::vector<at::Tensor> columns;
  for (const auto value : values)
    columns.push_back(at::randint(value, {rows}, test::seeded(3), at::kLong));
  return {columns.empty() ? at::randint(1, {rows, 0}, at::kLong) : at::stack(columns, 1),
          at::randn({rows, count}, test::seeded(4)).to(type)};
}

/// Sums that are the same whatever computes them.
void learn(Model& model, const std::vector<at::Tensor>& inputs, const Pass& pass) {
  const auto output = model.run(inputs, pass);
  const auto factors = at::randn(output.sizes(), test::seeded(5)).to(output.scalar_type());
  output.mul(factors).sum().backward();
}

double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  if (b.numel() == 0) return 0;
  const auto largest = std::max(1.0, b.abs().max().item<double>());
  return test::largest_difference(a, b) / largest;
}

struct Compared {
  json recipe;
  ModelContext context;
  std::function<std::vector<at::Tensor>(at::ScalarType)> inputs;
  std::vector<std::int64_t> positions = {};  // of the rows
};

/// Two passes add up gradients and move statistics: parameters, gradients and buffers are those of
/// LibTorch's operators.
void expect_the_same_as_operators(const Compared& compared, at::ScalarType type) {
  const auto made = [&] {
    auto model = test::make_model(compared.recipe, compared.context);
    model->to(at::kCPU, type);
    return model;
  };
  const auto ours = made(), theirs = made();
  for (std::int64_t step = 0; step < 2; ++step) {
    auto pass = test::training(step, 64 * step);
    pass.positions = compared.positions;
    learn(*ours, compared.inputs(type), pass);
    pass.recompute = true;
    learn(*theirs, compared.inputs(type), pass);
  }
  const double most = type == at::kDouble ? 1e-12 : 1e-5;  // LibTorch's sums are of floats
  const auto expected = theirs->named_parameters();
  for (const auto& [name, parameter] : ours->named_parameters()) {
    const auto gradient = test::find(expected, name).grad();
    ASSERT_EQ(parameter.grad().defined(), gradient.defined()) << name;
    if (!gradient.defined()) continue;
    EXPECT_LT(relative_difference(parameter.grad(), gradient), most) << name << compared.recipe;
  }
  const auto buffers = theirs->named_buffers();
  for (const auto& [name, buffer] : ours->named_buffers())
    EXPECT_LT(relative_difference(buffer, test::find(buffers, name)), most)
        << name << compared.recipe;
}

void expect_the_same_as_operators(const Compared& compared) {
  for (const auto type : {at::kFloat, at::kDouble}) expect_the_same_as_operators(compared, type);
}

TEST(DenseChain, OfMlpHasTheGradientsOfOperators) {
  const auto inputs = [](at::ScalarType type) {
    return std::vector{at::randn({33, 1, 1, 7}, test::seeded(2)).to(type)};
  };
  for (const auto& more :
       {json::object(), json{{"batch_norm", true}}, json{{"dropout", 0.3}},
        json{{"batch_norm", true}, {"dropout", 0.5}}, json{{"activation", "gelu"}},
        json{{"activation", "none"}}, json{{"activation", "tanh"}, {"batch_norm", true}},
        json{{"hidden", {130, 65, 3}}, {"batch_norm", true}}, json{{"dropout", 1.0}}})
    expect_the_same_as_operators(
        {test::with({{"type", "mlp"}, {"hidden", {19, 5}}, {"num_classes", 3}}, more), features(7),
         inputs});
}

TEST(DenseChain, DropsByThePositionsOfRows) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < 20; ++i) positions.push_back(3 * i + 1);
  expect_the_same_as_operators(
      {{{"type", "mlp"}, {"hidden", {12}}, {"num_classes", 2}, {"dropout", 0.4}},
       features(4),
       [](at::ScalarType type) {
         return std::vector{at::randn({20, 1, 1, 4}, test::seeded(2)).to(type)};
       },
       positions});
}

TEST(DenseChain, OfSequentialBeginsAndEndsWithAnyLayer) {
  const auto inputs = [](at::ScalarType type) {
    return std::vector{at::randn({21, 1, 1, 6}, test::seeded(2)).to(type)};
  };
  const json relu{{"type", "relu"}}, norm{{"type", "batch_norm"}}, linear{{"type", "linear"}},
      drop{{"type", "dropout"}}, running{{"type", "batch_norm"}, {"momentum", nullptr}},
      plain{{"type", "batch_norm"}, {"affine", false}, {"eps", 0.1}},
      sigmoid{{"type", "activation"}, {"function", "sigmoid"}};
  for (auto layers : {json{relu, linear}, json{drop, linear, drop}, json{norm, linear, running},
                      json{linear, plain, relu, linear, relu, plain},
                      json{linear, drop, relu, norm, relu, linear},
                      json{linear, relu, sigmoid, norm, linear, linear, sigmoid}}) {
    layers.insert(layers.begin(), json{{"type", "flatten"}});
    expect_the_same_as_operators(
        {{{"type", "sequential"}, {"layers", layers}}, features(6), inputs});
  }
}

TEST(DenseChain, OfTablesHasTheGradientsOfOperators) {
  const std::vector<std::int64_t> values{5, 2, 11};
  const auto inputs = [&](at::ScalarType type) { return table_rows(40, values, 4, type); };
  for (const auto& more :
       {json::object(), json{{"embed_p", 0.4}}, json{{"ps", {0.2, 0.6}}}, json{{"use_bn", false}},
        json{{"bn_cont", false}, {"bn_final", true}}, json{{"lin_first", false}, {"ps", {0.5}}},
        json{{"linear_skip", true}, {"y_scale", {3, 20}}}, json{{"y_range", {-1, 4}}},
        json{{"activation", "silu"}}, json{{"embedding_sizes", {1, 70, 3}}}})
    expect_the_same_as_operators(
        {test::with({{"type", "tabular"}, {"layers", {20, 9}}}, more), table(4, values), inputs});
}

TEST(DenseChain, OfTablesNeedsNoNumbersAndNoCategories) {
  const json recipe{{"type", "tabular"}, {"layers", {20, 9}}};
  expect_the_same_as_operators({recipe, table(0, {5, 2}), [](auto type) {
                                  return table_rows(9, {5, 2}, 0, type);
                                }});
  expect_the_same_as_operators(
      {recipe, table(3, {}), [](auto type) { return table_rows(9, {}, 3, type); }});
}

TEST(DenseChain, LeavesFrozenParametersWithoutGradients) {
  for (const std::string frozen :
       {"embeds", "bn_cont", "layers.0", "layers.1", ".bias", "layers"}) {
    const auto made = [&] {
      auto model = test::make_model({{"type", "tabular"}, {"layers", {8}}}, table(2, {3, 4}));
      for (const auto& [name, parameter] : model->named_parameters())
        if (name.find(frozen) != std::string::npos) parameter.requires_grad_(false);
      return model;
    };
    const auto ours = made(), theirs = made();
    auto pass = test::training(0, 0);
    learn(*ours, table_rows(12, {3, 4}, 2, at::kFloat), pass);
    pass.recompute = true;
    learn(*theirs, table_rows(12, {3, 4}, 2, at::kFloat), pass);
    const auto expected = theirs->named_parameters();
    for (const auto& [name, parameter] : ours->named_parameters()) {
      const auto gradient = test::find(expected, name).grad();
      ASSERT_EQ(parameter.grad().defined(), gradient.defined()) << name << " " << frozen;
      if (!gradient.defined()) continue;
      EXPECT_LT(relative_difference(parameter.grad(), gradient), 1e-6);
    }
  }
}

TEST(DenseChain, GivesTheGradientOfItsInput) {
  Sequence chain;
  const auto generator = test::seeded(1);
  chain.add<Linear>(5, 4, generator);
  add_relu(chain);
  chain.add<BatchNorm>(4);
  const auto gradient = [&](bool operators) {
    auto input = at::randn({10, 5}, test::seeded(2)).requires_grad_(true);
    auto pass = test::training(0, 0);
    pass.recompute = operators;
    chain.forward(input.mul(2), pass).mul(at::arange(40).view({10, 4})).sum().backward();
    return input.grad();
  };
  EXPECT_LT(relative_difference(gradient(false), gradient(true)), 1e-6);
}

std::string node_of(const at::Tensor& tensor) { return tensor.grad_fn()->name(); }

TEST(DenseChain, IsOneNodeOfTrainingPassesInFullPrecision) {
  Sequence chain;
  const auto generator = test::seeded(1);
  chain.add<Linear>(5, 4, generator);
  auto* norm = chain.add<BatchNorm>(4);
  chain.add<Activate>(Activation::relu);
  const auto input = at::randn({10, 5});
  const auto pass = test::training(0, 0);
  EXPECT_EQ(node_of(chain.forward(input, pass)), "DenseChain");
  EXPECT_NE(node_of(chain.forward(input, {})), "DenseChain");  // evaluation
  norm->keep_statistics(true);
  EXPECT_NE(node_of(chain.forward(input, pass)), "DenseChain");
  chain.to(at::kCPU, at::kBFloat16);
  EXPECT_NE(node_of(chain.forward(input.to(at::kBFloat16), pass)), "DenseChain");
}

struct CountedHook final : torch::autograd::PostAccumulateGradHook {
  explicit CountedHook(int& times) : count(times) {}
  void operator()(const at::Tensor& parameter) override {
    EXPECT_TRUE(parameter.grad().defined());
    ++count;
  }
  int& count;
};

// What reduces gradients over ranks waits for the hook of each parameter.
TEST(DenseChain, CallsTheHookOfEachParameterOnce) {
  const auto model = test::make_model({{"type", "tabular"}, {"layers", {8}}}, table(2, {3, 4}));
  const auto parameters = model->named_parameters();
  std::vector<int> counts(parameters.size(), 0);
  for (std::size_t i = 0; i < counts.size(); ++i)
    torch::autograd::impl::set_post_acc_grad_hooks(parameters[i].tensor,
                                                   std::make_unique<CountedHook>(counts[i]));
  learn(*model, table_rows(12, {3, 4}, 2, at::kFloat), test::training(0, 0));
  EXPECT_THAT(counts, testing::Each(1));
}

TEST(DenseChain, LeavesCodesThatHaveNoEmbeddingToLibTorch) {
  const auto model = test::make_model({{"type", "tabular"}, {"layers", {8}}}, table(2, {3, 4}));
  auto inputs = table_rows(12, {3, 4}, 2, at::kFloat);
  inputs[0][4][1] = 4;
  EXPECT_THROW(model->run(inputs, test::training(0, 0)), c10::IndexError);
}

// Batch norm of 1, 3, 5, 7 (mean 4, variance 5, of a sample 20 / 3), on any number of threads.
TEST(DenseKernels, NormalizeColumnsOfAnyWidth) {
  const std::int64_t width = 3000;
  const auto column = at::tensor({1.0F, 3.0F, 5.0F, 7.0F}).view({4, 1});
  const auto input = column.expand({4, width}).contiguous();
  auto output = at::empty_like(input), mean = at::zeros({width}), var = at::ones({width});
  std::vector<double> of_mean(width), of_inverse(width);
  dense::batch_norm<float>({output.data_ptr<float>(), 4, width, width},
                           {input.const_data_ptr<float>(), 4, width, width},
                           {nullptr, nullptr, mean.data_ptr<float>(), var.data_ptr<float>(), 0.5, 0,
                            of_mean.data(), of_inverse.data()});
  EXPECT_LT(test::largest_difference(output, input.sub(4).div(std::sqrt(5.0))), 1e-6);
  EXPECT_LT(test::largest_difference(mean, at::full({width}, 2.0)), 1e-6);
  EXPECT_LT(test::largest_difference(var, at::full({width}, 0.5 + 10.0 / 3)), 1e-6);
}

TEST(DenseKernels, GiveTheSameBitsOnAnyNumberOfThreads) {
  const std::int64_t rows = 3000, width = 200;
  const auto input = at::randn({rows, width}, test::seeded(1));
  const int before = at::get_num_threads();
  std::vector<at::Tensor> sums;
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    auto sum = at::empty({width});
    dense::column_sums<float>(sum.data_ptr<float>(),
                              {input.const_data_ptr<float>(), rows, width, width});
    sums.push_back(sum);
  }
  at::set_num_threads(before);
  EXPECT_TRUE(sums[1].equal(sums[0]) && sums[2].equal(sums[0]));
  EXPECT_LT(test::largest_difference(sums[0], input.sum(0, false, at::kDouble)), 1e-4);
}

TEST(DenseKernels, KeepWhatIsNoNumber) {
  auto values = at::tensor({-1.0F, NAN, 2.0F});
  dense::relu(values.data_ptr<float>(), values.const_data_ptr<float>(), 3);
  EXPECT_EQ(values[0].item<float>(), 0);
  EXPECT_TRUE(std::isnan(values[1].item<float>()));
  EXPECT_EQ(values[2].item<float>(), 2);
}

}  // namespace
}  // namespace ddptrain
