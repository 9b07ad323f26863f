// Batch norm over ranks, each rank a thread, against one batch norm over the whole batch.
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "distributed/group.h"
#include "models/model.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using golden::Case;
using nlohmann::json;
using Sizes = std::vector<std::int64_t>;

constexpr double kTolerance = 1e-9;

at::Tensor formula_batch(const Sizes& shape, std::uint64_t k, double scale, double shift) {
  const auto tensor = at::empty(shape, at::kDouble);
  auto* values = tensor.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    values[i] = golden::formula(static_cast<std::uint64_t>(i), k) * scale + shift;
  return tensor;
}

Sizes with_rows(std::int64_t rows, Sizes shape) {
  shape.insert(shape.begin(), rows);
  return shape;
}

// The layer as a recipe's `sequential` network has it, with the case's weights.
std::unique_ptr<Model> make_norm(const Case& c) {
  json layer = {{"type", "batch_norm"}};
  if (c.input.contains("options")) layer.update(c.input.at("options"));
  const json recipe = {{"type", "sequential"},
                       {"input", c.input.at("sample_shape")},
                       {"layers", json::array({layer})}};
  auto model = catalog<Model>().build(fragment<Model>(recipe), ModelContext{});
  model->to(at::kCPU, at::kDouble);
  for (auto& [name, tensor] : model->named_parameters())
    for (std::int64_t j = 0; j < tensor.numel(); ++j)
      tensor.mutable_data_ptr<double>()[j] = name == "0.weight"
                                                 ? 1 + 0.1 * static_cast<double>(j)
                                                 : 0.2 - 0.1 * static_cast<double>(j);
  return model;
}

at::Tensor find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const auto& t : tensors)
    if (t.name == name) return t.tensor;
  return {};
}

void expect_equal(const at::Tensor& actual, const json& expected, const std::string& what) {
  const auto flat = actual.detach().contiguous();
  const auto* data = flat.const_data_ptr<double>();
  golden::expect_close({data, data + flat.numel()}, golden::numbers(expected), kTolerance,
                       kTolerance, what);
}

struct Rank {
  std::unique_ptr<Model> model;
  std::unique_ptr<Group> group;
  std::int64_t first = 0, rows = 0;
  at::Tensor output, input_grad;
};

std::vector<Rank> make_ranks(const Case& c) {
  const auto rows = c.input.at("rank_sizes").get<Sizes>();
  auto groups = make_thread_groups(static_cast<int>(rows.size()));
  std::vector<Rank> ranks;
  for (std::size_t r = 0; r < rows.size(); ++r)
    ranks.push_back({make_norm(c),
                     std::move(groups[r]),
                     std::accumulate(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(r),
                                     std::int64_t{0}),
                     rows[r],
                     {},
                     {}});
  return ranks;
}

template <class Body>
void on_every_rank(std::vector<Rank>& ranks, const Body& body) {
  std::vector<std::thread> threads;
  for (auto& rank : ranks) threads.emplace_back([&body, &rank] { body(rank); });
  for (auto& thread : threads) thread.join();
}

void train_step(Rank& rank, const at::Tensor& inputs, const at::Tensor& gradients) {
  for (auto& [name, tensor] : rank.model->named_parameters()) tensor.mutable_grad() = at::Tensor();
  const auto input = inputs.narrow(0, rank.first, rank.rows).clone().set_requires_grad(true);
  const Pass pass{.training = true, .statistics = rank.group.get()};
  rank.output = rank.model->forward(input, pass);
  rank.output.backward(gradients.narrow(0, rank.first, rank.rows));
  rank.input_grad = input.grad();
}

at::Tensor concatenated(const std::vector<Rank>& ranks, at::Tensor Rank::*part) {
  std::vector<at::Tensor> parts;
  for (const auto& rank : ranks) parts.push_back(rank.*part);
  return at::cat(parts);
}

void expect_parameter_gradients(const std::vector<Rank>& ranks, const json& expected) {
  for (const std::string name : {"weight", "bias"}) {
    at::Tensor total;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const auto parameter = find(ranks[r].model->named_parameters(), "0." + name);
      if (!parameter.defined()) return;
      const auto own = parameter.grad();
      total = total.defined() ? total.add(own) : own;
      if (expected.contains("per_rank"))
        expect_equal(own, expected.at("per_rank")[r].at(name + "_grad"), name + " of a rank");
    }
    expect_equal(total, expected.at(name + "_grad_total"), name + "_grad_total");
  }
}

void expect_step(const std::vector<Rank>& ranks, const json& expected) {
  expect_equal(concatenated(ranks, &Rank::output), expected.at("output"), "output");
  expect_equal(concatenated(ranks, &Rank::input_grad), expected.at("input_grad"), "input_grad");
  for (const auto& rank : ranks)
    for (const std::string name : {"running_mean", "running_var"})
      expect_equal(find(rank.model->named_buffers(), "0." + name), expected.at(name), name);
  expect_parameter_gradients(ranks, expected);
}

GOLDEN(batchnorm_ddp, sync_bn) {
  auto ranks = make_ranks(c);
  const auto sample = c.input.at("sample_shape").get<Sizes>();
  const auto shape = with_rows(ranks.back().first + ranks.back().rows, sample);
  for (std::uint64_t s = 0; s < c.expect.at("steps").size(); ++s) {
    const auto inputs = formula_batch(shape, 100 + s, static_cast<double>(1 + s), 0.3);
    const auto gradients = formula_batch(shape, 200 + s, 1, 0);
    on_every_rank(ranks, [&](Rank& rank) { train_step(rank, inputs, gradients); });
    expect_step(ranks, c.expect.at("steps")[s]);
  }
  const auto one = formula_batch(with_rows(1, sample), 300, 1, 0);
  expect_equal(ranks[0].model->forward(one, {}), c.expect.at("eval_output"), "eval_output");
}

GOLDEN(batchnorm_ddp, plain_bn) {
  auto ranks = make_ranks(c);
  const auto shape =
      with_rows(ranks.back().first + ranks.back().rows, c.input.at("sample_shape").get<Sizes>());
  const auto inputs = formula_batch(shape, 100, 1, 0.3);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].model->forward(inputs.narrow(0, ranks[r].first, ranks[r].rows), {.training = true});
    for (const std::string name : {"running_mean", "running_var"})
      expect_equal(find(ranks[r].model->named_buffers(), "0." + name),
                   c.expect.at("ranks")[r].at(name), name);
  }
}

}  // namespace
}  // namespace ddptrain
