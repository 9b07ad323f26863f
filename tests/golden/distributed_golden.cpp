// Gradients and whole runs of torch's DistributedDataParallel, and Accelerate's collectives,
// through the engines, models, losses and optimizers that recipes get.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <mutex>

#include "distributed/engine.h"
#include "optim/groups.h"
#include "optim/optimizer.h"
#include "support/golden.h"
#include "support/node.h"
#include "support/ranks.h"

namespace ddptrain {
namespace {

using nlohmann::json;

json network(const std::string& net) {
  const bool norm = net == "bn";
  json layers = json::array();
  layers.push_back({{"type", "conv"}, {"out", 6}, {"kernel", 3}, {"padding", 1}, {"bias", !norm}});
  layers.push_back(norm ? "batch_norm" : "identity");
  for (const char* layer : {"relu", "max_pool"}) layers.push_back(layer);
  layers.push_back({{"type", "conv"}, {"out", 8}, {"kernel", 3}, {"padding", 1}});
  for (const char* layer : {"relu", "adaptive_avg_pool", "flatten"}) layers.push_back(layer);
  layers.push_back({{"type", "linear"}, {"out", 5}});
  return {{"type", "sequential"}, {"input", {3, 8, 8}}, {"layers", layers}};
}

void set_formula_weights(Model& model) {
  const at::NoGradGuard no_grad;
  std::uint64_t k = 0;
  for (const auto& [name, tensor] : model.state()) {
    if (tensor.is_floating_point()) {
      auto values = at::empty(tensor.sizes(), at::kDouble);
      const auto dims = static_cast<std::size_t>(tensor.dim());
      const auto fan = dims > 1 ? tensor.numel() / tensor.size(0) : 1;
      const auto weights = golden::formula_weights(name, dims, fan, k);
      for (std::int64_t i = 0; i < values.numel(); ++i)
        values.mutable_data_ptr<double>()[i] = weights(i);
      tensor.copy_(values.to(at::kFloat));
    }
    ++k;
  }
}

ModelFactory factory(const std::string& net) {
  return [net] {
    ModelContext context;
    context.data.classes.resize(5);
    context.generator = at::make_generator<at::CPUGeneratorImpl>(0);
    auto model = catalog<Model>().build(fragment<Model>(network(net)), context);
    set_formula_weights(*model);
    return model;
  };
}

/// Samples 0 .. count-1 of the file's data.
Batch samples(std::int64_t count) {
  Batch batch;
  batch.rows = count;
  auto input = at::empty({count, 3, 8, 8}, at::kFloat);
  for (std::int64_t i = 0; i < input.numel(); ++i)
    input.mutable_data_ptr<float>()[i] =
        static_cast<float>(golden::formula(static_cast<std::uint64_t>(i), 777));
  batch.inputs = {input};
  batch.targets = {at::arange(count, at::kLong).mul(7).add(3).remainder(5)};
  for (std::int64_t i = 0; i < count; ++i) batch.indices.push_back(i);
  return batch;
}

/// Some samples as a micro-batch that begins at `first_row` of its global batch.
Batch choose(const Batch& all, const std::vector<std::int64_t>& chosen, std::int64_t first_row) {
  const auto index = at::tensor(chosen, at::kLong);
  Batch batch;
  batch.inputs = {all.inputs[0].index_select(0, index)};
  batch.targets = {all.targets[0].index_select(0, index)};
  batch.indices = chosen;
  batch.rows = static_cast<std::int64_t>(chosen.size());
  batch.first_row = first_row;
  return batch;
}

using Parts = std::vector<std::vector<std::int64_t>>;  // rows of each rank

/// The part of one rank.
Batch part_of(const Batch& all, const Parts& parts, std::size_t rank) {
  std::int64_t first_row = 0;
  for (std::size_t i = 0; i < rank; ++i) first_row += static_cast<std::int64_t>(parts[i].size());
  return choose(all, parts[rank], first_row);
}

std::unique_ptr<Loss> cross_entropy(const json& class_weights) {
  json chosen{{"type", "cross_entropy"}};
  if (class_weights.is_array()) chosen["weight"] = class_weights;
  return catalog<Loss>().build(fragment<Loss>(chosen), LossContext{5});
}

/// One step's gradients as the mean over what counts; returns the mean loss.
double mean_gradients(Engine& engine, const Batch& batch, const Loss& loss) {
  MicroStep at;
  at.nominal = 3;  // any number will do
  engine.begin();
  engine.accumulate(batch, loss, at);
  const auto totals = engine.finish();
  for (const auto& named : engine.model().named_parameters())
    named.tensor.mutable_grad().mul_(at.nominal / totals.weight);
  return totals.loss_sum / totals.weight;
}

std::vector<double> sum_and_norm(const at::Tensor& tensor) {
  const auto values = tensor.detach().to(at::kDouble);
  return {values.sum().item<double>(), values.norm().item<double>()};
}

/// Where several ranks test, one after the other.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

void expect_weighted(const golden::Case& c, Engine& engine, const Batch& batch) {
  const auto loss = cross_entropy(c.input.at("class_weights"));
  const double mean = mean_gradients(engine, batch, *loss);
  const std::lock_guard lock(one_at_a_time());
  EXPECT_NEAR(mean, c.expect.at("loss"), 1e-9);
  for (const auto& [name, gradient] : engine.model().named_parameters())
    golden::expect_close(sum_and_norm(gradient.grad()),
                         golden::numbers(c.expect.at("grad_sum_norm").at(name)), 1e-9, 1e-9, name);
}

EngineOptions options_of(const json& dtype, bool sync_bn) {
  EngineOptions options;
  options.numerics.parameters = dtype == "float32" ? at::kFloat : at::kDouble;
  options.sync_bn = sync_bn;
  return options;
}

GOLDEN(batchnorm_ddp, weighted_gradients) {
  const std::vector<std::int64_t> sizes = c.input.at("rank_sizes");
  const std::vector<std::int64_t> targets = c.input.at("targets");
  auto all = samples(static_cast<std::int64_t>(targets.size()));
  all.targets = {at::tensor(targets, at::kLong)};
  const std::string net = c.input.at("net");
  const auto options = options_of("float64", true);
  const auto single = make_single_engine(factory(net), options);
  expect_weighted(c, *single, all);
  test::play_all(static_cast<int>(sizes.size()), [&](World& world) {
    std::int64_t first = 0;
    for (int rank = 0; rank < world.rank; ++rank) first += sizes[static_cast<std::size_t>(rank)];
    const auto rows = sizes[static_cast<std::size_t>(world.rank)];
    const auto engine = make_ddp_engine(factory(net), options, world);
    expect_weighted(c, *engine, slice(all, first, rows));
  });
}

struct Trained {
  std::vector<double> losses;
  std::map<std::string, std::vector<double>> state;  // sum and norm of each tensor
};

Trained train(Engine& engine, const json& input, const std::function<Batch(const Parts&)>& part) {
  json sgd = input.at("sgd");
  sgd["type"] = "sgd";
  const auto optimizer =
      catalog<Optimizer>().build(fragment<Optimizer>(sgd), group_parameters(engine.model(), {}));
  const auto loss = cross_entropy(nullptr);
  const auto& parts = input.at("parts");
  Trained trained;
  for (std::size_t step = 0; step < input.at("steps"); ++step) {
    trained.losses.push_back(
        mean_gradients(engine, part(parts.at(step % parts.size()).get<Parts>()), *loss));
    optimizer->step({optimizer->lr(), {}});
    engine.parameters_changed();
  }
  for (const auto& [name, tensor] : engine.model().state())
    trained.state[name] = sum_and_norm(tensor);
  return trained;
}

Trained train_ddp(const json& input, bool sync_bn) {
  const auto all = samples(input.at("samples"));
  Trained first;
  test::play_all(input.at("world"), [&](World& world) {
    const auto engine =
        make_ddp_engine(factory(input.at("net")), options_of(input.at("dtype"), sync_bn), world);
    const auto rank = static_cast<std::size_t>(world.rank);
    auto trained =
        train(*engine, input, [&](const Parts& parts) { return part_of(all, parts, rank); });
    if (rank == 0) first = std::move(trained);
  });
  return first;
}

/// The same batches whole, dealt to replicas by dp or not at all.
Trained train_whole(const json& input, Engine& engine) {
  const auto all = samples(input.at("samples"));
  return train(engine, input, [&](const Parts& parts) {
    std::vector<std::int64_t> whole;
    for (const auto& part : parts) whole.insert(whole.end(), part.begin(), part.end());
    return choose(all, whole, 0);
  });
}

void expect_trained(const Trained& trained, const json& losses, const json& state,
                    double tolerance) {
  golden::expect_close(trained.losses, golden::numbers(losses), tolerance, tolerance, "losses");
  for (const auto& [name, expected] : state.items())
    golden::expect_close(trained.state.at(name),
                         {golden::number(expected.at("sum")), golden::number(expected.at("norm"))},
                         tolerance, tolerance, name);
}

bool cut_evenly(const json& parts) {
  for (const auto& step : parts)
    for (const auto& part : step)
      if (part.size() != step.at(0).size()) return false;
  return true;
}

GOLDEN(batchnorm_ddp, ddp_run) {
  const double tolerance = c.input.at("dtype") == "float32" ? 1e-4 : 1e-9;
  const auto& one = c.expect.at("one_process");
  auto options = options_of(c.input.at("dtype"), true);
  const auto single = make_single_engine(factory(c.input.at("net")), options);
  expect_trained(train_whole(c.input, *single), one.at("losses"), one.at("state"), tolerance);
  options.replicas = c.input.at("world");
  const auto dp = make_dp_engine(factory(c.input.at("net")), options);
  expect_trained(train_whole(c.input, *dp), one.at("losses"), one.at("state"), tolerance);
  expect_trained(train_ddp(c.input, true), one.at("losses"), one.at("state"), tolerance);
  // Without sync_bn each rank normalizes its own rows, as torch's DDP does; where the parts are
  // equal, its mean of means is ours.
  if (!cut_evenly(c.input.at("parts"))) return;
  expect_trained(train_ddp(c.input, false), c.expect.at("ddp_mean_losses"),
                 c.expect.at("ddp_rank0_state"), tolerance);
}

std::vector<double> flat(const at::Tensor& tensor) {
  const auto values = tensor.to(at::kDouble).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

GOLDEN(accelerate, collectives) {
  test::play_all(c.input.at("world"), [&](World& world) {
    auto& group = *world.control;
    const auto expect = [&](const char* name, const at::Tensor& actual) {
      const auto& wanted = c.expect.at(name).at(static_cast<std::size_t>(world.rank));
      const std::lock_guard lock(one_at_a_time());
      golden::expect_close(flat(actual), golden::numbers(wanted), 0, 1e-6, name);
    };
    const auto value = at::arange(1, 3, at::kFloat).add_(2 * world.rank);
    const auto count = at::arange(1, world.rank + 2, at::kLong);
    expect("gather", at::cat(gather_rows(group, value)));
    auto sum = value.clone();
    group.all_reduce(sum);
    expect("sum", sum);
    expect("sum_scaled", sum);  // `scale` is for TPUs alone
    expect("mean", sum.div(group.size()));
    expect("gather_scalar", at::cat(gather_rows(group, at::full({1}, world.rank + 1.0))));
    auto received = value.clone();
    group.broadcast(received, 0);
    expect("broadcast_from_0", received);
    // Rows of any number travel padded, as Accelerate pads them, and arrive without the padding.
    const auto ranks = gather_rows(group, count);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      auto wanted = golden::numbers(c.expect.at("pad").at(rank));
      wanted.resize(rank + 1);
      const std::lock_guard lock(one_at_a_time());
      golden::expect_close(flat(ranks[rank]), wanted, 0, 0, "pad");
    }
  });
}

}  // namespace
}  // namespace ddptrain
