// Sharded modes on devices: the CPU's numbers, collectives in the same order on all ranks, no wait
// in a step, and the memory that held_bytes() says.
#include <ATen/ops/arange.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "distributed/compare.h"
#include "distributed/sharding/shards.h"
#include "models/nets.h"
#include "optim/parameters.h"
#include "optim/state_stream.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ElementsAreArray;

using MakeEngine = std::unique_ptr<Engine>(const ModelFactory&, const EngineOptions&, World&);

const std::map<std::string, MakeEngine*>& sharded_modes() {
  static const std::map<std::string, MakeEngine*> modes{
      {"zero1", make_zero1_engine}, {"zero2", make_zero2_engine}, {"fsdp", make_fsdp_engine}};
  return modes;
}

ModelFactory small_gpt2(std::int64_t width, std::int64_t layers) {
  return [=] {
    ModelContext context;
    context.data.cardinalities = {30};
    context.data.tokens.emplace();
    context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
    return make_model({{"type", "gpt2"},
                       {"n_embd", width},
                       {"n_layer", layers},
                       {"n_head", 2},
                       {"n_positions", 8}},
                      context);
  };
}

/// Texts of five tokens, and the tokens that follow.
Batch texts(std::int64_t rows, std::int64_t first) {
  auto batch = samples(rows);
  const auto text =
      at::arange(rows * 6, at::kLong).mul(7).add(first).remainder(28).add(2).view({rows, 6});
  batch.inputs = {text.slice(1, 0, 5).contiguous()};
  batch.targets = {text.slice(1, 1, 6).contiguous()};
  return batch;
}

/// The last of them leave ranks without rows.
const std::vector<Batch>& uneven() {
  static const std::vector<Batch> all{texts(4, 1), texts(3, 5), texts(1, 9)};
  return all;
}

EngineOptions on(at::Device device, at::ScalarType type) {
  EngineOptions options;
  options.device = device;
  options.numerics.parameters = type;
  return options;
}

/// Autograd has one thread for all that a process does on one device.
at::Device device_of(const World& world, bool simulated) {
  return simulated ? simulated_device(world.rank) : at::Device(at::kCPU);
}

using Weights = std::map<std::string, at::Tensor>;

/// A step of gradient descent with each batch.
Weights after_steps(Engine& engine, const World& world) {
  MicroStep at;
  at.nominal = 8;
  for (const auto& batch : uneven()) {
    const auto totals = run_window(engine, batch, {2, world.rank, world.size}, at);
    for (const auto& [name, master] : engine.masters())
      if (master.grad().defined())
        master.detach().add_(master.grad(), -0.2 * at.nominal / totals.weight);
    engine.parameters_changed();
    ++at.step;
  }
  Weights weights;
  for (const auto& [name, tensor] : engine.model().named_parameters())
    weights.emplace(name, engine.whole(name).cpu().clone());
  return weights;
}

class ShardedOnADevice : public testing::TestWithParam<std::string> {};

TEST_P(ShardedOnADevice, MakesTheStepsOfTheCpu) {
  const auto weights = [](bool simulated) {
    std::vector<Weights> all(2);
    play_all(2, [&](World& world) {
      const auto engine = sharded_modes().at(GetParam())(
          small_gpt2(8, 3), on(device_of(world, simulated), at::kDouble), world);
      all[static_cast<std::size_t>(world.rank)] = after_steps(*engine, world);
    });
    return all;
  };
  const auto expected = weights(false), found = weights(true);
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    for (const auto& [name, tensor] : expected[0])
      EXPECT_LE(largest_difference(found[rank].at(name), tensor), 1e-12) << name;
}

/// Notes what a rank calls, in order.
class NotingGroup final : public Group {
 public:
  NotingGroup(std::unique_ptr<Group> group, std::string name, std::vector<std::string>& calls)
      : group_(std::move(group)), name_(std::move(name)), calls_(calls) {}
  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    note("all_gather", tensor);
    return group_->all_gather(tensor);
  }
  void all_reduce(at::Tensor& tensor) override {
    note("all_reduce", tensor);
    group_->all_reduce(tensor);
  }
  std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) override {
    note("all_reduce_async", tensor);
    return group_->all_reduce_async(tensor);
  }
  void broadcast(at::Tensor& tensor, int root) override {
    note("broadcast", tensor);
    group_->broadcast(tensor, root);
  }
  std::unique_ptr<Pending> reduce_scatter_async(at::Tensor& flat, const Cuts& cuts) override {
    note("reduce_scatter", flat);
    return group_->reduce_scatter_async(flat, cuts);
  }
  std::unique_ptr<Pending> all_gather_async(at::Tensor& flat, const Cuts& cuts) override {
    note("all_gather_async", flat);
    return group_->all_gather_async(flat, cuts);
  }
  std::unique_ptr<Pending> exchange_async(const at::Tensor& flat, const Cuts& cuts,
                                          at::Tensor& parts) override {
    note("exchange", flat);
    return group_->exchange_async(flat, cuts, parts);
  }
  void send(const at::Tensor& tensor, int to) override { group_->send(tensor, to); }
  void receive(at::Tensor& tensor, int from) override { group_->receive(tensor, from); }
  void barrier() override { group_->barrier(); }
  void abort(const std::string& reason) override { group_->abort(reason); }

 private:
  void note(const char* call, const at::Tensor& tensor) {
    calls_.push_back(name_ + " " + call + " of " + std::to_string(tensor.numel()) + " " +
                     c10::toString(tensor.scalar_type()));
  }
  std::unique_ptr<Group> group_;
  std::string name_;
  std::vector<std::string>& calls_;
};

// NCCL hangs where ranks differ. Windows of two micro-batches, of which a rank may have no rows,
// and an evaluation for which one has no batch.
TEST_P(ShardedOnADevice, CallsTheSameCollectivesInTheSameOrderOnAllRanks) {
  constexpr int ranks = 2;
  std::vector<std::vector<std::string>> calls(ranks);
  play_all(ranks, [&](World& world) {
    auto& own = calls[static_cast<std::size_t>(world.rank)];
    world.gradients = std::make_unique<NotingGroup>(std::move(world.gradients), "gradients", own);
    auto options = on(device_of(world, true), at::kFloat);
    options.numerics.autocast = options.numerics.evaluation_autocast = at::kBFloat16;
    const auto engine = sharded_modes().at(GetParam())(small_gpt2(8, 3), options, world);
    after_steps(*engine, world);
    if (world.rank == 1)
      engine->follow();
    else
      engine->evaluate(texts(2, 3));
  });
  EXPECT_GE(calls[0].size(), 10U);  // of three windows and an evaluation
  for (int rank = 1; rank < ranks; ++rank)
    EXPECT_THAT(calls[static_cast<std::size_t>(rank)], ElementsAreArray(calls[0])) << rank;
}

TEST_P(ShardedOnADevice, NeverWaitsInAStep) {
  auto world = single_world();
  const auto engine =
      sharded_modes().at(GetParam())(small_gpt2(8, 3), on(simulated_device(), at::kFloat), world);
  run_window(*engine, texts(4, 1), {}, {});
  engine->parameters_changed();
  simulated::reset();
  const auto numbers = sum_window(*engine, texts(4, 2), {2, 0, 1}, {});
  engine->parameters_changed();
  const auto counts = simulated::counts();
  EXPECT_EQ(counts.waited(), 0) << counts.waits.begin()->first;
  EXPECT_EQ(counts.freed_in_use, 0);
  EXPECT_GT(engine->totals(numbers.cpu()).weight, 0);
}

// From the start on. With few tokens a step needs little else: activations, and gradients on their
// way to a buffer. Of one rank: those of threads have memory of their own for collectives.
TEST_P(ShardedOnADevice, HasThePeakThatItSays) {
  if (GetParam() == "zero1") GTEST_SKIP() << "gradients of whole buckets are ddp's";
  const auto& device = simulated_accelerator();
  device.empty_cache();
  device.reset_peak_memory(0);
  const auto before = device.memory(0).reserved;
  auto world = single_world();
  const auto engine =
      sharded_modes().at(GetParam())(small_gpt2(128, 8), on(simulated_device(), at::kFloat), world);
  for (const std::int64_t first : {1, 2}) {
    run_window(*engine, texts(1, first), {}, {});
    engine->parameters_changed();
  }
  const auto held = static_cast<double>(engine->held_bytes());
  const auto peak = static_cast<double>(device.memory(0).peak_reserved - before);
  EXPECT_GE(peak, held);
  EXPECT_LE(peak, 1.1 * held);
}

// The same with Adam, whose state is offloaded: two buffers come on top.
TEST_P(ShardedOnADevice, HasBuffersInPlaceOfTheStateThatIsOffloaded) {
  if (GetParam() == "zero1") GTEST_SKIP() << "gradients of whole buckets are ddp's";
  const auto& device = simulated_accelerator();
  const auto peak_of = [&](bool offloads) {
    device.empty_cache();
    device.reset_peak_memory(0);
    const auto before = device.memory(0).reserved;
    auto world = single_world();
    const auto engine = sharded_modes().at(GetParam())(small_gpt2(128, 8),
                                                       on(simulated_device(), at::kFloat), world);
    StateStream stream(simulated_device(),
                       [&](std::int64_t bytes) { return device.host_memory(bytes); },
                       {.buffer_bytes = 1 << 18});
    const auto adam = testing_optim::build({{"type", "adam"}, {"lr", 0.1}},
                                           {testing_optim::group(engine->shards()->pieces())});
    if (offloads) {
      EXPECT_TRUE(adam->offload(stream));
    }
    for (const std::int64_t first : {1, 2}) {
      run_window(*engine, texts(1, first), {}, {});
      adam->step({.lr = 0.1});
      engine->parameters_changed();
    }
    const auto state = offloads ? 2 * stream.buffer_bytes() : adam->state_bytes();
    return std::pair(static_cast<double>(engine->held_bytes() + state),
                     static_cast<double>(device.memory(0).peak_reserved - before));
  };
  const auto [held, peak] = peak_of(true);
  EXPECT_GE(peak, held);
  EXPECT_LE(peak, 1.1 * held);
  EXPECT_LT(peak, 0.7 * peak_of(false).second);
}

INSTANTIATE_TEST_SUITE_P(Modes, ShardedOnADevice, testing::Values("zero1", "zero2", "fsdp"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace ddptrain
