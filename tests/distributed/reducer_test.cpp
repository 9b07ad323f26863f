// torch's own c10d::Reducer as the oracle of our buckets: both on the same ranks, over Gloo.
#include <gtest/gtest.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "compare.h"
#include "distributed/c10d.h"

namespace ddptrain {
namespace {

using namespace test;
using ProcessGroup = c10::intrusive_ptr<c10d::ProcessGroup>;

BackendOptions gloo_options(int rank, const std::string& name) {
  BackendOptions options;
  options.name = name;
  options.rank = rank;
  options.size = 2;
  return options;
}

ProcessGroup process_group(const Store& store, int rank) {
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank, 2);
  const auto type = c10d::ProcessGroup::BackendType::GLOO;
  group->setBackend(at::kCPU, type, make_gloo(store, gloo_options(rank, "oracle")));
  group->setDefaultBackend(type);
  return group;
}

/// Gradients of two steps on this rank's rows: means over ranks, as torch's DDP leaves them.
Tensors by_reducer(const ProcessGroup& group, const std::vector<Batch>& batches, const Cut& by) {
  auto net = factory({true, false, false})();
  net->to(at::kCPU, at::kDouble);
  std::vector<at::Tensor> parameters;
  std::unordered_map<std::size_t, std::string> names;
  for (const auto& named : net->named_parameters()) {
    names[parameters.size()] = named.name;
    parameters.push_back(named.tensor);
  }
  const auto reducer = std::make_shared<c10d::Reducer>(
      parameters, std::vector<std::vector<std::size_t>>{{2, 1}, {0}}, group,
      std::vector<bool>(parameters.size(), false), 25 << 20, false, true, names, 1 << 20, false,
      false, std::vector<std::int64_t>{});
  const auto logger = std::make_shared<c10d::Logger>(reducer);
  reducer->set_logger(logger);
  const CrossEntropy loss({1, 0.5, 2});
  Tensors all;
  Pass pass{true, 11, 0, 0, nullptr};
  for (const auto& batch : batches) {
    const auto first = cut(batch.rows, by.world);
    const auto r = static_cast<std::size_t>(by.rank);
    const auto mine = slice(batch, first[r], first[r + 1] - first[r]);
    pass.first_row = mine.first_row;
    for (const auto& parameter : parameters)
      if (parameter.grad().defined()) parameter.mutable_grad().zero_();
    reducer->prepare_for_forward();
    reducer->rebuild_buckets();
    const auto sum = loss(net->forward(mine.inputs[0], pass), mine.targets[0]).values.sum();
    reducer->prepare_for_backward({});
    sum.backward();
    for (const auto& parameter : parameters) all.push_back(parameter.grad().clone());
    ++pass.step;
  }
  return all;
}

/// Ours: sums over ranks, of the same model without steps between.
Tensors by_buckets(World& world, const std::vector<Batch>& batches) {
  auto options = in_double();
  options.bucket_bytes = 100;
  const auto engine = make_ddp_engine(factory({true, false, false}), options, world);
  MicroStep at;
  at.seed = 11;
  Tensors all;
  for (const auto& batch : batches) {
    run_window(*engine, batch, {1, world.rank, 2}, at);
    for (const auto& named : engine->model().named_parameters())
      all.push_back(named.tensor.grad().clone());
    ++at.step;
  }
  return all;
}

TEST(Ddp, GivesTwiceWhatTorchsReducerGivesOnTwoRanks) {
  const Store store = c10::make_intrusive<c10d::HashStore>();
  const std::vector<Batch> batches{samples(8, "a"), samples(8, "b"), samples(6, "c")};
  auto worlds = make_thread_worlds(2);
  for (auto& world : worlds) world.gradients.reset();
  const auto thrown = play(std::move(worlds), [&](World& world) {
    const auto options = gloo_options(world.rank, "ours");
    world.gradients = make_backend_group(make_gloo(store, options), options);
    const auto group = process_group(store, world.rank);
    auto expected = by_reducer(group, batches, {1, world.rank, 2});
    for (auto& gradient : expected) gradient.mul_(2);  // its mean to our sum
    expect_same(by_buckets(world, batches), expected);
  });
  for (const auto& error : thrown)
    if (error) std::rethrow_exception(error);
}

}  // namespace
}  // namespace ddptrain
