// zero1, zero2 and fsdp make the steps of one process, whatever a rank has.
#include <ATen/ops/equal.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "compare.h"
#include "distributed/sharding/shards.h"
#include "models/recompute.h"

namespace ddptrain {
namespace {

using namespace test;

/// A residual block of 6 numbers, as those of transformers.
class Residual final : public Module {
 public:
  explicit Residual(const std::string& name)
      : weight_(parameter("weight", drawn({6, 6}, name, 0.3))),
        bias_(parameter("bias", drawn({6}, name + " bias", 0.1))),
        scale_(parameter("scale", drawn({}, name + " scale"))) {}
  bool is_block() const override { return true; }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return run_block(*this, input, pass, [this](const at::Tensor& given, const Pass&) {
      return given.add(at::gelu(at::linear(given, weight_, bias_)).mul(scale_));
    });
  }

 private:
  at::Tensor weight_, bias_, scale_;
};

/// Blocks between two layers that are in none.
class Blocky final : public Model {
 public:
  explicit Blocky(int blocks) {
    first_ = parameter("first", drawn({6, 6}, "first", 0.5));
    for (int i = 0; i < blocks; ++i)
      blocks_.push_back(make<Residual>("block" + std::to_string(i), "block" + std::to_string(i)));
    last_ = parameter("last", drawn({3, 6}, "last", 0.5));
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    auto x = at::linear(input, first_);
    for (auto* block : blocks_) x = block->forward(x, pass);
    return at::linear(x, last_);
  }

 private:
  at::Tensor first_, last_;
  std::vector<Residual*> blocks_;
};

ModelFactory blocky(int blocks = 4) {
  return [blocks] { return std::make_unique<Blocky>(blocks); };
}

using MakeEngine = std::unique_ptr<Engine>(const ModelFactory&, const EngineOptions&, World&);

struct Sharded {
  std::string name;
  MakeEngine* make;
  CutAt cut = CutAt::any_element;
  int ranks = 2;
  std::int64_t accumulate = 1;
  int group = 0;
  bool recompute = false;
  bool reduces_last = false;
};

void PrintTo(const Sharded& kind, std::ostream* out) { *out << kind.name; }

/// Gradient descent with momentum, whose state lies where the gradients do.
struct Descent {
  std::map<std::string, at::Tensor> momentum;
  void step(Engine& engine, double factor) {
    for (const auto& [name, master] : engine.masters()) {
      if (!master.grad().defined()) continue;
      auto& m = momentum[name];
      m = m.defined() ? m.mul(0.9).add(master.grad(), factor) : master.grad().mul(factor);
      master.detach().add_(m, -0.3);
    }
    engine.parameters_changed();
  }
  std::vector<NamedTensor> state() const {
    std::vector<NamedTensor> all;
    for (const auto& [name, tensor] : momentum) all.push_back({name + ".momentum", tensor});
    return all;
  }
};

/// Weights and momentum after some steps, on rank 0; weights of every rank are compared with it.
std::map<std::string, at::Tensor> trained(Engine& engine, const std::vector<Batch>& batches,
                                          const Cut& by, World* world) {
  Descent descent;
  MicroStep at;
  at.nominal = 5;
  for (const auto& batch : batches) {
    const auto totals = run_window(engine, batch, by, at);
    descent.step(engine, at.nominal / totals.weight);
    ++at.step;
  }
  auto state = descent.state();
  if (const auto* shards = engine.shards()) state = shards->gather(state);
  auto found = by_name(state);
  std::vector<NamedTensor> weights;
  for (const auto& [name, weight] : engine.model().named_parameters())
    weights.push_back({name, engine.whole(name)});
  const auto whole = by_name(weights);
  found.insert(whole.begin(), whole.end());
  return world == nullptr || world->rank == 0 ? found : whole;
}

EngineOptions options_of(const Sharded& kind) {
  auto options = in_double();
  options.whole_tensors = kind.cut == CutAt::parameters;
  options.recompute = kind.recompute;
  options.reduces_last = kind.reduces_last;
  return options;
}

std::vector<std::map<std::string, at::Tensor>> on_ranks(const Sharded& kind,
                                                        const ModelFactory& model,
                                                        const std::vector<Batch>& batches,
                                                        bool ordered = false) {
  std::vector<std::map<std::string, at::Tensor>> all(static_cast<std::size_t>(kind.ranks));
  play_all(
      kind.ranks,
      [&](World& world) {
        if (ordered) world.gradients = make_ordered_group(std::move(world.gradients));
        const auto engine = kind.make(model, options_of(kind), world);
        all[static_cast<std::size_t>(world.rank)] =
            trained(*engine, batches, {kind.accumulate, world.rank, kind.ranks}, &world);
      },
      kind.group);
  return all;
}

double distance_of(const at::Tensor& a, const at::Tensor& b) {
  return length(a - b) / std::max(1e-12, length(b));
}

class ShardedModes : public testing::TestWithParam<Sharded> {};

TEST_P(ShardedModes, MakeTheStepsOfOneProcess) {
  const auto& kind = GetParam();
  for (const auto& batches : {std::vector{samples(8, "a"), samples(8, "b"), samples(8, "c")},
                              std::vector{samples(7, "a"), samples(3, "b"), samples(1, "c")}}) {
    const auto single = make_single_engine(blocky(), in_double());
    const auto expected = trained(*single, batches, {1, 0, 1}, nullptr);
    for (const auto& found : on_ranks(kind, blocky(), batches))
      for (const auto& [name, tensor] : found) {
        ASSERT_EQ(tensor.sizes(), expected.at(name).sizes()) << name;
        EXPECT_LE(distance_of(tensor, expected.at(name)), 1e-12) << name;
      }
  }
}

TEST_P(ShardedModes, FreezeWhatAStageDoes) {
  const auto& kind = GetParam();
  const Frozen frozen{{"first", "block0.weight", "block2.weight", "block2.bias", "block2.scale"}};
  const auto batches = std::vector{samples(8, "a"), samples(8, "b")};
  const auto steps = [&](Engine& engine, const Cut& by, World* world) {
    engine.freeze(frozen);
    trained(engine, {batches[0]}, by, world);
    engine.freeze({});
    return trained(engine, {batches[1]}, by, world);
  };
  const auto single = make_single_engine(blocky(), in_double());
  const auto expected = steps(*single, {1, 0, 1}, nullptr);
  play_all(
      kind.ranks,
      [&](World& world) {
        const auto engine = kind.make(blocky(), options_of(kind), world);
        for (const auto& [name, tensor] :
             steps(*engine, {kind.accumulate, world.rank, kind.ranks}, &world))
          EXPECT_LE(distance_of(tensor, expected.at(name)), 1e-12) << name;
      },
      kind.group);
}

// As a trial of a batch size leaves one.
TEST_P(ShardedModes, ForgetAWindowThatWasNotSummed) {
  const auto& kind = GetParam();
  const auto batches = std::vector{samples(8, "a"), samples(8, "b")};
  const auto single = make_single_engine(blocky(), in_double());
  const auto expected = trained(*single, batches, {1, 0, 1}, nullptr);
  play_all(
      kind.ranks,
      [&](World& world) {
        const auto engine = kind.make(blocky(), options_of(kind), world);
        const auto trial = samples(4, "trial");
        engine->begin();
        for (const bool last : {false, true})
          engine->accumulate(trial, *loss_for(trial), {.last = last});
        for (const auto& [name, tensor] :
             trained(*engine, batches, {kind.accumulate, world.rank, kind.ranks}, &world))
          EXPECT_LE(distance_of(tensor, expected.at(name)), 1e-12) << name;
      },
      kind.group);
}

TEST_P(ShardedModes, EvaluateWhileSomeRanksHaveNoBatch) {
  const auto& kind = GetParam();
  const auto batch = samples(4);
  const auto expected = make_single_engine(blocky(), in_double())->evaluate(batch);
  play_all(
      kind.ranks,
      [&](World& world) {
        const auto engine = kind.make(blocky(), options_of(kind), world);
        EXPECT_LE(distance_of(engine->evaluate(batch), expected), 1e-14);
        if (world.rank == 0)
          EXPECT_LE(distance_of(engine->evaluate(batch), expected), 1e-14);
        else
          engine->follow();
      },
      kind.group);
}

TEST_P(ShardedModes, TakeWhatTheyAreAssigned) {
  const auto& kind = GetParam();
  const auto batch = samples(4);
  const auto change = [](Engine& engine) {
    std::vector<NamedTensor> values;
    for (const auto& [name, parameter] : blocky()()->named_parameters())
      if (name != "last") values.push_back({name, drawn(parameter.sizes().vec(), "new " + name)});
    engine.assign(values);
    engine.parameters_changed();
  };
  const auto single = make_single_engine(blocky(), in_double());
  change(*single);
  const auto expected = single->evaluate(batch);
  play_all(
      kind.ranks,
      [&](World& world) {
        const auto engine = kind.make(blocky(), options_of(kind), world);
        change(*engine);
        EXPECT_LE(distance_of(engine->evaluate(batch), expected), 1e-14);
      },
      kind.group);
}

INSTANTIATE_TEST_SUITE_P(
    Of, ShardedModes,
    testing::Values(
        Sharded{"zero1", make_zero1_engine},
        Sharded{"zero1_alone", make_zero1_engine, CutAt::any_element, 1},
        Sharded{"zero1_whole", make_zero1_engine, CutAt::parameters, 3},
        Sharded{"zero1_accumulates", make_zero1_engine, CutAt::any_element, 4, 2},
        Sharded{"zero2", make_zero2_engine},
        Sharded{"zero2_whole", make_zero2_engine, CutAt::parameters, 3, 2},
        Sharded{"zero2_alone", make_zero2_engine, CutAt::any_element, 1},
        Sharded{"zero2_groups", make_zero2_engine, CutAt::any_element, 4, 1, 2},
        Sharded{"fsdp", make_fsdp_engine},
        Sharded{"fsdp_alone", make_fsdp_engine, CutAt::any_element, 1},
        Sharded{"fsdp_accumulates", make_fsdp_engine, CutAt::any_element, 4, 2},
        Sharded{"fsdp_whole", make_fsdp_engine, CutAt::parameters, 3},
        Sharded{"fsdp_groups", make_fsdp_engine, CutAt::any_element, 4, 2, 2},
        Sharded{"zero2_reduces_last", make_zero2_engine, CutAt::any_element, 2, 3, 0, false, true},
        Sharded{"fsdp_reduces_last", make_fsdp_engine, CutAt::any_element, 4, 2, 2, true, true},
        Sharded{"fsdp_recomputes", make_fsdp_engine, CutAt::any_element, 2, 2, 0, true}),
    [](const auto& test) { return test.param.name; });

// Machines of another kind may draw weights that differ in their last bits.
TEST(ShardGroups, BeginWithTheWeightsOfTheFirst) {
  const auto model_of = [](int group) -> ModelFactory {
    return [group] {
      auto model = std::make_unique<Blocky>(3);
      for (const auto& named : model->named_parameters()) named.tensor.detach().mul_(1 + group);
      return model;
    };
  };
  const auto batch = samples(4);
  const auto expected = make_single_engine(model_of(0), in_double())->evaluate(batch);
  for (auto* make : {make_zero2_engine, make_fsdp_engine})
    play_all(
        4,
        [&](World& world) {
          const auto engine = make(model_of(world.rank / 2), in_double(), world);
          EXPECT_LE(distance_of(engine->evaluate(batch), expected), 1e-14) << world.rank;
        },
        2);
}

// Sums in rank order are those of any layout: the same bits.
TEST(OrderedSums, MakeDdpAndShardedModesTheSame) {
  const auto batches = std::vector{samples(8, "a"), samples(7, "b"), samples(8, "c")};
  const auto ddp =
      on_ranks({"ddp", make_ddp_engine, CutAt::any_element, 3}, blocky(), batches, true);
  for (auto* make : {make_zero1_engine, make_zero2_engine, make_fsdp_engine}) {
    const auto sharded = on_ranks({"", make, CutAt::any_element, 3}, blocky(), batches, true);
    for (const auto& [name, tensor] : ddp[0])
      EXPECT_TRUE(at::equal(tensor, sharded[0].at(name))) << name;
  }
}

// A rank adds up its micro-batches first, as ddp does.
TEST(OrderedSums, OfAccumulatedBatchesMakeTheSameWhereTheyAreMadeLast) {
  const auto batches = std::vector{samples(8, "a"), samples(7, "b")};
  const auto ddp =
      on_ranks({"ddp", make_ddp_engine, CutAt::any_element, 3, 2}, blocky(), batches, true);
  for (auto* make : {make_zero2_engine, make_fsdp_engine}) {
    const auto sharded =
        on_ranks({"", make, CutAt::any_element, 3, 2, 0, false, true}, blocky(), batches, true);
    for (const auto& [name, tensor] : ddp[0])
      EXPECT_TRUE(at::equal(tensor, sharded[0].at(name))) << name;
  }
}

/// Four ranks on two nodes.
std::vector<NodeGroups> two_nodes() {
  std::vector<NodeGroups> all(4);
  for (std::size_t i = 0; i < 2; ++i) {
    auto node = make_thread_groups(2), across = make_thread_groups(2);
    for (std::size_t j = 0; j < 2; ++j) {
      all[2 * i + j].node = std::move(node[j]);
      all[i + 2 * j].across = std::move(across[j]);
    }
  }
  return all;
}

TEST(OrderedSums, OverNodesAreThoseOfEachFirst) {
  const auto of = [](int rank) {
    return drawn({9}, "rank " + std::to_string(rank)).to(at::kFloat);
  };
  const auto expected = of(0).add(of(1)).add(of(2).add(of(3)));
  EXPECT_FALSE(at::equal(expected, of(0).add(of(1)).add(of(2)).add(of(3))));
  auto nodes = two_nodes();
  play_all(4, [&](World& world) {
    const auto group = make_ordered_group(std::move(world.gradients),
                                          std::move(nodes[static_cast<std::size_t>(world.rank)]));
    auto sum = of(world.rank);
    group->all_reduce(sum);
    EXPECT_TRUE(at::equal(sum, expected)) << world.rank;
    auto flat = of(world.rank);
    const Cuts cuts{0, 3, 4, 4, 9};
    group->reduce_scatter_async(flat, cuts)->wait();
    EXPECT_TRUE(at::equal(slice_of(flat, cuts, world.rank), slice_of(expected, cuts, world.rank)))
        << world.rank;
  });
}

// With a model on each of two nodes, too.
TEST(OrderedSums, OverNodesMakeDdpAndShardedModesTheSame) {
  const auto batches = std::vector{samples(8, "a"), samples(7, "b")};
  const auto trained_on = [&](MakeEngine* make, int group) {
    std::map<std::string, at::Tensor> found;
    auto nodes = two_nodes();
    play_all(
        4,
        [&](World& world) {
          world.gradients = make_ordered_group(
              std::move(world.gradients), std::move(nodes[static_cast<std::size_t>(world.rank)]));
          for (auto* each : {&world.shard_group, &world.replica_group})
            if (*each) *each = make_ordered_group(std::move(*each));
          const auto engine = make(blocky(), in_double(), world);
          auto own = trained(*engine, batches, {1, world.rank, 4}, &world);
          if (world.rank == 0) found = std::move(own);
        },
        group);
    return found;
  };
  const auto ddp = trained_on(make_ddp_engine, 0);
  for (const int group : {0, 2}) {
    const auto fsdp = trained_on(make_fsdp_engine, group);
    for (const auto& [name, tensor] : ddp)
      EXPECT_TRUE(at::equal(tensor, fsdp.at(name))) << name << " " << group;
  }
}

TEST(OrderedSums, AreThoseInRankOrder) {
  play_all(3, [](World& world) {
    const auto group = make_ordered_group(std::move(world.gradients));
    const auto of = [](int rank) {
      return drawn({7}, "rank " + std::to_string(rank)).to(at::kFloat);
    };
    auto sum = of(world.rank);
    group->all_reduce(sum);
    EXPECT_TRUE(at::equal(sum, of(0).add(of(1)).add(of(2))));
  });
}

}  // namespace
}  // namespace ddptrain
