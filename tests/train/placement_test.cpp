// Where a run happens, on machines of a test's choice.
#include "train/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Recipe recipe_of(Mode mode, DeviceKind device = DeviceKind::automatic) {
  Recipe recipe;
  recipe.parallel.mode = mode;
  recipe.parallel.device = device;
  return recipe;
}

Topology launcher_of(int world, int local_world) {
  Topology outer;
  outer.world = world;
  outer.local_world = local_world;
  return outer;
}

void expect_refused(const Recipe& recipe, const Topology& outer, const Machine& machine, Exit code,
                    const std::string& message) {
  try {
    place(recipe, outer, machine);
    ADD_FAILURE() << "nothing was thrown instead of: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Placement, WithoutAModeIsOneDevice) {
  const auto cpu = place(recipe_of(Mode::none), {}, {.gpus = 0, .cores = 6});
  EXPECT_EQ(cpu.device, DeviceKind::cpu);
  EXPECT_EQ(cpu.devices(), 1);
  EXPECT_THAT(cpu.ids, IsEmpty());
  EXPECT_EQ(cpu.threads, 6);
  const auto gpu = place(recipe_of(Mode::none), {}, {.gpus = 4, .cores = 6});
  EXPECT_EQ(gpu.device, DeviceKind::cuda);
  EXPECT_EQ(gpu.devices(), 1);
  EXPECT_THAT(gpu.ids, ElementsAre(0));
}

TEST(MachineParts, DivideCoresAndGpus) {
  const Machine machine{.gpus = 5, .cores = 6};
  auto recipe = recipe_of(Mode::ddp);
  const auto second = divide(machine, {1, 2}, recipe);
  const auto placed = place(recipe, {}, second);
  EXPECT_THAT(placed.ids, ElementsAre(2, 3));
  EXPECT_EQ(second.cores, 3);
  recipe = recipe_of(Mode::ddp);
  recipe.parallel.devices.ids = {7, 5, 3, 1};
  divide({.gpus = 8, .cores = 2}, {1, 4}, recipe);
  EXPECT_THAT(recipe.parallel.devices.ids, ElementsAre(5));
  recipe = recipe_of(Mode::none);
  EXPECT_EQ(divide({.gpus = 0, .cores = 2}, {3, 4}, recipe).cores, 1);
  EXPECT_THAT(recipe.parallel.devices.ids, IsEmpty());
  divide(machine, {3, 4}, recipe);
  EXPECT_THAT(place(recipe, {}, machine).ids, ElementsAre(3));
}

TEST(MachineParts, RefuseMoreThanThereIs) {
  auto recipe = recipe_of(Mode::none);
  EXPECT_THROW(divide({.gpus = 2, .cores = 6}, {0, 3}, recipe), Error);
  recipe = recipe_of(Mode::ddp);
  recipe.parallel.devices.count = 3;
  EXPECT_THROW(divide({.gpus = 4, .cores = 6}, {0, 2}, recipe), Error);
}

TEST(Placement, HasGraphsOnGpusAndOfOnePassAStep) {
  auto recipe = recipe_of(Mode::none);
  recipe.train.graph = true;
  const std::string no = "train.graph: steps cannot be captured into a graph: ",
                    way = "; 'train.graph: auto' trains without one";
  expect_refused(recipe, {}, {.gpus = 0, .cores = 2}, Exit::recipe,
                 no + "this run is on the CPU, which has none" + way);
  place(recipe, {}, {.gpus = 1, .cores = 2});
  recipe.batch.global = 8;
  recipe.batch.micro = std::int64_t{2};
  expect_refused(recipe, {}, {.gpus = 1, .cores = 2}, Exit::recipe,
                 no + "a step makes 4 passes (batch.accumulate)" + way);
}

TEST(Placement, OffloadsFromGpusAlone) {
  auto recipe = recipe_of(Mode::fsdp);
  recipe.parallel.shard.offload = Offload::optimizer;
  EXPECT_EQ(place(recipe, {}, {.gpus = 2, .cores = 2}).ranks, 2);
  expect_refused(recipe, {}, {.gpus = 0, .cores = 2}, Exit::recipe,
                 "parallel.shard.offload: this run is on the CPU, whose memory is the host's; "
                 "without 'offload' it trains the same");
}

TEST(Placement, OfDdpIsARankForEachGpu) {
  const auto found = place(recipe_of(Mode::ddp), {}, {.gpus = 4, .cores = 8});
  EXPECT_EQ(found.ranks, 4);
  EXPECT_EQ(found.replicas, 1);
  EXPECT_THAT(found.ids, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(found.threads, 2);
}

TEST(Placement, OfDpIsAReplicaForEachGpuInOneRank) {
  const auto found = place(recipe_of(Mode::dp), {}, {.gpus = 4, .cores = 8});
  EXPECT_EQ(found.ranks, 1);
  EXPECT_EQ(found.replicas, 4);
  EXPECT_THAT(found.ids, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(found.threads, 8);
}

TEST(Placement, TakesTheDevicesThatTheRecipeCountsOrNames) {
  auto recipe = recipe_of(Mode::ddp);
  recipe.parallel.devices.count = Auto<std::int64_t>(2);
  EXPECT_THAT(place(recipe, {}, {.gpus = 4, .cores = 8}).ids, ElementsAre(0, 1));
  EXPECT_EQ(place(recipe, {}, {.gpus = 0, .cores = 8}).ranks, 2);
  recipe.parallel.devices.count = {};
  recipe.parallel.devices.ids = {3, 1};
  const auto named = place(recipe, {}, {.gpus = 4, .cores = 8});
  EXPECT_EQ(named.ranks, 2);
  EXPECT_THAT(named.ids, ElementsAre(3, 1));
}

TEST(Placement, OnTheCpuDoesNotLookAtGpus) {
  const auto found =
      place(recipe_of(Mode::ddp, DeviceKind::cpu), {}, Machine{.gpus = 4, .cores = 8});
  EXPECT_TRUE(found.on_cpu());
  EXPECT_EQ(found.ranks, 1);
  EXPECT_THAT(found.ids, IsEmpty());
}

// Two nodes of two: this one has two ranks, so two GPUs and half the cores for each.
TEST(Placement, UnderALauncherIsAsItSays) {
  const auto found =
      place(recipe_of(Mode::ddp), launcher_of(4, 2), Machine{.gpus = 8, .cores = 12});
  EXPECT_EQ(found.ranks, 4);
  EXPECT_THAT(found.ids, ElementsAre(0, 1));
  EXPECT_EQ(found.threads, 6);
  EXPECT_EQ(to_text(found.batch), "global 64 = micro 16 x accumulate 1 x 4 devices");
}

TEST(Placement, SharesTheCoresButLeavesARankOne) {
  auto recipe = recipe_of(Mode::ddp, DeviceKind::cpu);
  recipe.parallel.devices.count = Auto<std::int64_t>(8);
  EXPECT_EQ(place(recipe, {}, {.gpus = 0, .cores = 20}).threads, 2);
  EXPECT_EQ(place(recipe, {}, {.gpus = 0, .cores = 6}).threads, 1);
  recipe.train.threads = Auto<std::int64_t>(5);
  EXPECT_EQ(place(recipe, {}, {.gpus = 0, .cores = 6}).threads, 5);
}

TEST(Placement, LeavesThreadsToATrialOnlyOnTheCpuInRanksOfTheirOwn) {
  const Machine cpu{.gpus = 0, .cores = 4};
  auto recipe = recipe_of(Mode::none);
  EXPECT_TRUE(place(recipe, {}, cpu).find_threads);
  EXPECT_FALSE(place(recipe, {}, {.gpus = 1, .cores = 4}).find_threads);
  EXPECT_FALSE(place(recipe_of(Mode::dp), {}, cpu).find_threads);
  recipe.train.threads = Auto<std::int64_t>(2);
  EXPECT_FALSE(place(recipe, {}, cpu).find_threads);
}

TEST(Placement, LeavesTheMicroBatchToATrialOnlyOnGpus) {
  const Machine gpu{.gpus = 1, .cores = 4};
  auto recipe = recipe_of(Mode::none);
  EXPECT_TRUE(place(recipe, {}, gpu).find_micro);
  EXPECT_FALSE(place(recipe, {}, {.gpus = 0, .cores = 4}).find_micro);
  recipe.batch.accumulate = Auto<std::int64_t>(2);
  EXPECT_FALSE(place(recipe, {}, gpu).find_micro);
  recipe.batch.accumulate = {};
  recipe.batch.micro = Auto<std::int64_t>(32);
  EXPECT_FALSE(place(recipe, {}, gpu).find_micro);
}

TEST(Placement, RefusesCudaWithoutAGpu) {
  expect_refused(recipe_of(Mode::none, DeviceKind::cuda), {}, {.gpus = 0, .cores = 4}, Exit::device,
                 "parallel.device: 'cuda' was asked for, and this machine shows no GPU; "
                 "'parallel.device=cpu' runs without one");
}

const Machine& broken() {
  static const Machine machine{.gpus = 0, .cores = 4, .why_none = "CUDA cannot be used: too old"};
  return machine;
}

TEST(Placement, OfAutoIsTheCpuWhereGpusCannotBeUsed) {
  EXPECT_TRUE(place(recipe_of(Mode::ddp), {}, broken()).on_cpu());
}

TEST(Placement, SaysWhyGpusCannotBeUsed) {
  expect_refused(recipe_of(Mode::none, DeviceKind::cuda), {}, broken(), Exit::device,
                 "parallel.device: 'cuda' was asked for, and CUDA cannot be used: too old; "
                 "'parallel.device=cpu' runs without one");
}

// Slurm's --gpus-per-task=1: eight tasks on a node, each sees one GPU, which has the number 0.
TEST(Placement, TakesTheOneGpuThatEachTaskSees) {
  auto outer = launcher_of(16, 8);
  outer.local_rank = 5;
  const auto found = place(recipe_of(Mode::ddp), outer, {.gpus = 1, .cores = 64});
  EXPECT_EQ(found.ranks, 16);
  EXPECT_EQ(found.id(5), 0);
}

// --gpus-per-task=2: each sees two, its own.
TEST(Placement, TakesTheFirstOfTheGpusThatEachTaskWasGiven) {
  auto outer = launcher_of(8, 4);
  outer.local_rank = 3;
  outer.gpus_of_rank = 2;
  EXPECT_EQ(place(recipe_of(Mode::ddp), outer, {.gpus = 2, .cores = 64}).id(3), 0);
  // Without a binding each sees all of its node's.
  EXPECT_EQ(place(recipe_of(Mode::ddp), outer, {.gpus = 8, .cores = 64}).id(3), 3);
}

TEST(Placement, RefusesFewerListedGpusThanRanks) {
  auto recipe = recipe_of(Mode::ddp);
  recipe.parallel.devices.ids = {0, 1};
  expect_refused(recipe, launcher_of(4, 4), {.gpus = 4, .cores = 4}, Exit::recipe,
                 "parallel.devices: it names 2 GPUs, and 4 ranks run on this machine");
}

TEST(Placement, OfTheSimulatedDeviceIsThatOfGpus) {
  test::allow_the_simulated_device();
  const auto found =
      place(recipe_of(Mode::ddp, DeviceKind::simulated), {}, {.gpus = 2, .cores = 4});
  EXPECT_EQ(device_name(found), "simulated");
  EXPECT_THAT(found.ids, ElementsAre(0, 1));
}

TEST(Placement, RefusesAGpuThatIsNotThere) {
  auto recipe = recipe_of(Mode::ddp);
  recipe.parallel.devices.ids = {0, 2};
  expect_refused(recipe, {}, {.gpus = 2, .cores = 4}, Exit::device,
                 "parallel.devices: there is no GPU 2; this machine shows 2; 'parallel.devices=2' "
                 "takes what is there");
  recipe.parallel.devices.ids = {};
  recipe.parallel.devices.count = Auto<std::int64_t>(2);
  expect_refused(recipe, {}, {.gpus = 1, .cores = 4}, Exit::device,
                 "parallel.devices: there is no GPU 1; this machine shows 1; 'parallel.devices=1' "
                 "takes what is there");
  expect_refused(recipe_of(Mode::ddp), launcher_of(4, 4), {.gpus = 3, .cores = 4}, Exit::device,
                 "parallel.devices: there is no GPU 3; this machine shows 3");
}

/// As a run on four GPUs left it: batch.micro and batch.accumulate are numbers.
Recipe run_on_four() {
  auto recipe = recipe_of(Mode::ddp, DeviceKind::cuda);
  recipe.parallel.devices.count = Auto<std::int64_t>(4);
  recipe.batch = {64, {}, Auto<std::int64_t>(16), Auto<std::int64_t>(1)};
  return recipe;
}

TEST(Placement, SaysHowARunGoesOnWithoutItsGpus) {
  expect_refused(run_on_four(), {}, {.gpus = 0, .cores = 4}, Exit::device,
                 "parallel.device: 'cuda' was asked for, and this machine shows no GPU; "
                 "'parallel.device=cpu parallel.devices=4' runs without one");
  auto listed = recipe_of(Mode::none, DeviceKind::cuda);
  listed.parallel.devices.ids = {3};
  expect_refused(listed, {}, {.gpus = 0, .cores = 4}, Exit::device,
                 "parallel.device: 'cuda' was asked for, and this machine shows no GPU; "
                 "'parallel.device=cpu parallel.devices=1' runs without one");
}

// 64 = 16 x 2 x 2; on three devices no batch of 64 is possible, on two it is.
TEST(Placement, SaysHowARunGoesOnWithFewerGpus) {
  for (const int gpus : {2, 3})
    expect_refused(run_on_four(), {}, {.gpus = gpus, .cores = 4}, Exit::device,
                   "parallel.devices: there is no GPU " + std::to_string(gpus) +
                       "; this machine shows " + std::to_string(gpus) +
                       "; 'parallel.devices=2 batch.accumulate=auto' takes " +
                       (gpus == 2 ? "what is there" : "2 of them"));
  auto uneven = run_on_four();
  uneven.batch = {48, {}, Auto<std::int64_t>(12), Auto<std::int64_t>(1)};
  expect_refused(uneven, {}, {.gpus = 3, .cores = 4}, Exit::device,
                 "parallel.devices: there is no GPU 3; this machine shows 3; 'parallel.devices=3 "
                 "batch.micro=auto batch.accumulate=auto' takes what is there");
}

TEST(Placement, RefusesDpAmongRanks) {
  expect_refused(recipe_of(Mode::dp), launcher_of(2, 2), {.gpus = 2, .cores = 4}, Exit::recipe,
                 "parallel.mode: 'dp' is one process, and this one was started as one of 2 ranks; "
                 "write 'ddp'");
}

TEST(Placement, RefusesSeveralDevicesWithoutAMode) {
  auto recipe = recipe_of(Mode::none);
  recipe.parallel.devices.count = Auto<std::int64_t>(2);
  const std::string message =
      "parallel.mode: 'none' uses one device, and 2 were asked for; write 'ddp' or 'dp'";
  expect_refused(recipe, {}, {.gpus = 2, .cores = 4}, Exit::recipe, message);
  expect_refused(recipe_of(Mode::none), launcher_of(2, 2), {.gpus = 2, .cores = 4}, Exit::recipe,
                 message);
}

TEST(Placement, RefusesABatchThatItsDevicesCannotShare) {
  auto recipe = recipe_of(Mode::ddp);
  recipe.batch.global = 64;
  expect_refused(recipe, {}, {.gpus = 3, .cores = 4}, Exit::recipe,
                 "batch.global: 64 cannot be split over 3 devices; nearest: 63, 66");
}

TEST(ResolvedRecipe, SaysWhatWasPlaced) {
  auto recipe = recipe_of(Mode::ddp);
  recipe.batch.per_device = 24;
  recipe.output.dir = "runs";
  const auto placement = place(recipe, {}, {.gpus = 2, .cores = 6});
  const auto found = resolved(recipe, placement);
  EXPECT_EQ(found.batch.global, 48);
  EXPECT_FALSE(found.batch.per_device);
  EXPECT_EQ(found.batch.micro.value, 24);
  EXPECT_EQ(found.batch.accumulate.value, 1);
  EXPECT_EQ(found.parallel.device, DeviceKind::cuda);
  EXPECT_EQ(found.parallel.devices.count.value, 2);
  EXPECT_EQ(found.train.threads.value, 3);
  EXPECT_EQ(found.eval.batch.value, 64);  // batch.global, from 64 to 256
  EXPECT_EQ(found.output.dir, (std::filesystem::current_path() / "runs").string());
}

// What a trial of threads and micro-batch found takes the place of what was planned.
TEST(ResolvedRecipe, IsResolvedAgainForAnotherBatch) {
  const auto recipe = recipe_of(Mode::none);
  auto placement = place(recipe, {}, {.gpus = 1, .cores = 4});
  const auto planned = resolved(recipe, placement);
  placement.batch = {64, 16, 4, 1};
  placement.threads = 1;
  const auto found = resolved(planned, placement);
  EXPECT_EQ(found.batch.global, 64);
  EXPECT_EQ(found.batch.micro.value, 16);
  EXPECT_EQ(found.batch.accumulate.value, 4);
  EXPECT_EQ(found.train.threads.value, 1);
  EXPECT_EQ(found.eval.batch.value, planned.eval.batch.value);
  EXPECT_EQ(found.output.dir, planned.output.dir);
}

constexpr DeviceTraits kModern{.has_bf16 = true, .gains_by_channels_last = true};

Recipe resolved_on(Recipe recipe, const DeviceTraits& traits, int gpus = 1) {
  return resolved(recipe, place(recipe, {}, {.gpus = gpus, .traits = traits, .cores = 4}));
}

TEST(ResolvedRecipe, TakesThePrecisionThatTheDevicesComputeBestIn) {
  auto recipe = recipe_of(Mode::none);
  recipe.train.precision = {};
  EXPECT_EQ(resolved_on(recipe, kModern).train.precision.value, Precision::bf16);
  EXPECT_EQ(resolved_on(recipe, {}).train.precision.value, Precision::fp32);
  EXPECT_EQ(resolved_on(recipe, kModern, 0).train.precision.value, Precision::fp32);
  recipe.train.precision = Precision::tf32;
  EXPECT_EQ(resolved_on(recipe, kModern).train.precision.value, Precision::tf32);
  EXPECT_EQ(resolved_on(recipe_of(Mode::none), kModern).train.precision.value, Precision::fp32);
}

TEST(ResolvedRecipe, IsChannelsLastWhereModelAndDevicesGainByIt) {
  auto recipe = recipe_of(Mode::none);
  recipe.model = Choice<Model>("resnet18");
  const auto last = [](const Recipe& found) { return found.train.channels_last.value; };
  EXPECT_EQ(last(resolved_on(recipe, kModern)), true);
  EXPECT_EQ(last(resolved_on(recipe, {})), false);
  EXPECT_EQ(last(resolved_on(recipe, kModern, 0)), false);
  recipe.train.deterministic = true;
  EXPECT_EQ(last(resolved_on(recipe, kModern)), false);
  recipe.train.channels_last = true;
  EXPECT_EQ(last(resolved_on(recipe, kModern)), true);
  auto transformer = recipe_of(Mode::none);
  transformer.model = Choice<Model>("vit_b_16");
  EXPECT_EQ(last(resolved_on(transformer, kModern)), false);
}

TEST(ResolvedRecipe, SynchronizesBatchNormWhereDevicesHaveSome) {
  auto recipe = recipe_of(Mode::ddp);
  recipe.parallel.sync_bn = {};
  const Machine two{.gpus = 2, .cores = 4}, one{.gpus = 1, .cores = 4};
  const auto synchronized = [&](const char* model, const Machine& machine) {
    recipe.model = Choice<Model>(model);
    return resolved(recipe, place(recipe, {}, machine)).parallel.sync_bn.value;
  };
  EXPECT_EQ(synchronized("resnet18", two), true);
  EXPECT_EQ(synchronized("resnet18", one), false);
  EXPECT_EQ(synchronized("convnext_tiny", two), false);
}

}  // namespace
}  // namespace ddptrain
