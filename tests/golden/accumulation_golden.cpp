// One step over several micro-batches equals one step over all of them, through the loop's own
// step.
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/golden.h"
#include "support/node.h"
#include "support/training_parts.h"
#include "train/step/step.h"

namespace ddptrain {
namespace {

at::Tensor column(const std::vector<double>& values) {
  auto tensor = at::empty({static_cast<std::int64_t>(values.size()), 1}, at::kDouble);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<double>());
  return tensor;
}

/// y = x w, with w a row.
class Product final : public Model {
 public:
  explicit Product(const std::vector<double>& w) { w_ = parameter("w", column(w).t().clone()); }
  at::Tensor forward(const at::Tensor& x, const Pass&) override { return at::matmul(x, w_); }

 private:
  at::Tensor w_;
};

class Given final : public Loader {
 public:
  explicit Given(std::vector<Batch> batches) : batches_(std::move(batches)) {}
  void start(EpochPlan) override {}
  Batch next() override { return batches_.at(next_++); }

 private:
  std::vector<Batch> batches_;
  std::size_t next_ = 0;
};

Batch batch(const std::vector<double>& x, const at::Tensor& target) {
  Batch made;
  made.inputs = {column(x)};
  made.targets = {target};
  made.rows = static_cast<std::int64_t>(x.size());
  return made;
}

Training training(const std::vector<double>& w, double lr, const char* loss,
                  std::vector<Batch> batches) {
  static World alone;
  Training t;
  t.world = &alone;
  t.loader = std::make_unique<Given>(std::move(batches));
  t.loss = catalog<Loss>().build(Choice<Loss>(loss), LossContext{});
  EngineOptions options;
  options.numerics.parameters = at::kDouble;
  t.engine = make_single_engine([&] { return std::make_unique<Product>(w); }, options);
  ParameterGroup group;
  group.parameters = t.engine->model().named_parameters();
  t.optimizer = catalog<Optimizer>().build(fragment<Optimizer>({{"type", "sgd"}, {"lr", lr}}),
                                           std::vector<ParameterGroup>{group});
  t.stages = build_stages({t.recipe, t.length, *t.optimizer, t.engine->model()},
                          layer_groups(t.engine->model()));
  t.length.global = 1;
  return t;
}

std::vector<double> doubles(const at::Tensor& tensor) {
  const auto flat = tensor.detach().contiguous();
  const auto* first = flat.const_data_ptr<double>();
  return {first, first + flat.numel()};
}

GOLDEN(optimizers, accumulation) {
  const auto x = golden::numbers(c.input.at("x")), y = golden::numbers(c.input.at("y"));
  std::vector<Batch> batches;
  auto from = x.begin();
  for (const std::int64_t rows : c.input.at("micro_batches")) {
    const auto first = y.begin() + (from - x.begin());
    batches.push_back(batch({from, from + rows}, column({first, first + rows})));
    from += rows;
  }
  const auto count = static_cast<std::int64_t>(batches.size());
  auto t = training({c.input.at("w")}, c.input.at("lr"), "mse", std::move(batches));
  RunState state;
  make_step(t, state, count);
  const auto w = t.engine->model().named_parameters().at(0).tensor;
  EXPECT_NEAR(doubles(w.grad())[0], c.expect.at("grad_full").get<double>(), 1e-9);
  EXPECT_NEAR(doubles(w)[0], c.expect.at("w_after").get<double>(), 1e-9);
}

GOLDEN(optimizers, accumulation_tokens) {
  std::vector<Batch> batches;
  for (const auto& lengths : c.input.at("micro_batches")) {
    std::vector<double> x;
    for (const int length : lengths)
      for (int token = 1; token <= length; ++token) x.push_back(token);
    const auto labels = column(x).view({-1}).to(at::kLong).remainder(2);
    batches.push_back(batch(x, labels));
  }
  const auto count = static_cast<std::int64_t>(batches.size());
  auto t = training(golden::numbers(c.input.at("weight")), c.input.at("lr"), "cross_entropy",
                    std::move(batches));
  RunState state;
  make_step(t, state, count);
  golden::expect_close(doubles(t.engine->model().named_parameters().at(0).tensor),
                       golden::numbers(c.expect.at("weight_after")), 0, 1e-9, "weights");
}

}  // namespace
}  // namespace ddptrain
