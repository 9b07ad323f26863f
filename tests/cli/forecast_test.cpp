// What `plan --machine` prints.
#include "cli/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/cli_output.h"
#include "recipe/load/load.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
using testing::Not;

/// 64 samples on each device.
Recipe forecast_recipe(std::vector<std::string> overrides = {}) {
  overrides.insert(overrides.begin(),
                   {"~batch.global", "batch.per_device=64", "parallel.mode=ddp"});
  auto loaded = load_recipe({test::in_source("recipes/shapes.yaml")}, overrides, all_catalogs());
  EXPECT_FALSE(has_errors(loaded.problems));
  return loaded.recipe;
}

/// Ten gigaflops a sample, a gigabyte of everything.
ModelFacts forecast_facts() {
  ModelFacts facts;
  facts.blocks = {{"a", 1}, {"b", 1}};
  facts.flops = 10'000'000'000;
  facts.weight_bytes = facts.gradient_bytes = facts.optimizer_bytes = 1 << 30;
  facts.step = {.activations = 1 << 30, .most = std::int64_t{4} << 30};
  return facts;
}

std::string forecast_of(const Recipe& recipe, const ModelFacts& facts, DataSize data = {6400, 0},
                        std::vector<std::int64_t> counts = {1, 2, 8}) {
  const ForecastRun run{recipe, facts, plan_batch(recipe.batch, counts.front()), data, false,
                        0,      counts};
  return forecast_text(run, *find_machine("h100x8"), 0);
}

std::vector<std::string> cells_of(const std::string& text, const std::string& first) {
  for (const auto& line : split(text, '\n')) {
    std::vector<std::string> cells;
    for (const auto& cell : split(line, ' '))
      if (!cell.empty()) cells.push_back(cell);
    if (!cells.empty() && cells[0] == first) return cells;
  }
  return {};
}

TEST(Forecast, HasARowForEachNumberOfDevices) {
  const auto text = forecast_of(forecast_recipe(), forecast_facts());
  const auto one = cells_of(text, "1"), eight = cells_of(text, "8");
  ASSERT_GT(one.size(), 6U) << text;
  ASSERT_GT(eight.size(), 6U) << text;
  EXPECT_EQ(one[1], "64");
  EXPECT_EQ(eight[1], "512");
  // 64 samples x 3 x 10 GFLOP at half of 66.9 TFLOP/s, and 5 GiB of the update at 3.35 TB/s.
  EXPECT_EQ(one[2], format_fixed(1000 * (1.92e12 / (66.9e12 / 2) + 5 * 1.073741824 / 3350), 2));
  EXPECT_EQ(one[4], "100.0");
  EXPECT_EQ(one[6], "0.0");
  EXPECT_THAT(text, HasSubstr("4.0 GiB"));
  EXPECT_THAT(text, Not(HasSubstr("tokens/s")));
  EXPECT_THAT(text, Not(HasSubstr("note:")));
}

// fsdp on 16 devices, 8 to a node: the number before its unit, and the seconds of a checkpoint.
TEST(Forecast, OfGroupsOfANodeHasTheMemoryOfANode) {
  const auto memory = [](const std::string& group) {
    const auto recipe = forecast_recipe({"parallel.mode=fsdp", "parallel.shard.group=" + group});
    const auto cells = cells_of(forecast_of(recipe, forecast_facts(), {6400, 0}, {16}), "16");
    return *(cells.end() - 4);
  };
  EXPECT_EQ(memory("node"), memory("8"));
  EXPECT_NE(memory("node"), memory("auto"));
}

TEST(Forecast, OfALanguageModelCountsTokens) {
  DataSize data{100, 0};
  data.tokens = TokenSize{12'800, 12'800, 12'800};
  EXPECT_THAT(forecast_of(forecast_recipe(), forecast_facts(), data), HasSubstr("tokens/s"));
}

TEST(Forecast, NotesWhatIsOutsideTheModel) {
  auto facts = forecast_facts();
  facts.flops = 1;
  EXPECT_THAT(forecast_of(forecast_recipe(), facts),
              HasSubstr("note: 1, 2 and 8 devices: one computes less than 10 ms a step"));
  facts = forecast_facts();
  facts.step.most = std::int64_t{90} << 30;
  EXPECT_THAT(forecast_of(forecast_recipe(), facts),
              HasSubstr("note: 1, 2 and 8 devices: more memory than the 80 GB of one"));
  const auto shared = forecast_recipe({"~batch.per_device", "batch.global=64"});
  EXPECT_THAT(forecast_of(shared, forecast_facts()),
              HasSubstr("note: a device has from 8 to 64 samples a step"));
  EXPECT_THAT(forecast_of(forecast_recipe({"parallel.sync_bn=true"}), forecast_facts()),
              HasSubstr("note: the collectives of parallel.sync_bn are outside the model"));
}

TEST(Forecast, StatesHowManyDevicesHelp) {
  EXPECT_THAT(forecast_of(forecast_recipe(), forecast_facts()),
              HasSubstr("each doubling gives at least 20 % more samples a second"));
  auto facts = forecast_facts();
  facts.flops = 1;
  EXPECT_THAT(forecast_of(forecast_recipe({"~batch.per_device", "batch.global=64"}), facts),
              HasSubstr("beyond 1 device, doubling them gives less than 20 % more"));
}

TEST(Forecast, OfRanksIsThatOfTheirSteps) {
  const auto recipe = forecast_recipe({"~batch.per_device", "batch.global=64"});
  const auto facts = forecast_facts();
  const ForecastRun run{recipe, facts, plan_batch(recipe.batch, 1), {6400, 0}, false, 0, {1, 2, 4}};
  const std::vector<MeasuredStep> measured{
      {.devices = 1, .cores = 2, .threads = 2, .samples = 64, .passes = 0.2},
      {.devices = 2, .cores = 2, .samples = 64, .passes = 0.2, .communication = 0.02}};
  const auto text = forecast_text(run, measured, 0);
  EXPECT_EQ(cells_of(text, "1").at(2), "200.00");
  EXPECT_EQ(cells_of(text, "2").at(2), "220.00");
  EXPECT_EQ(cells_of(text, "4").at(2), "230.00");  // a ring of 4 sends 3/2 of what one of 2 does
}

TEST(Forecast, NotesShortStepsOfRanksThatShareCores) {
  const auto recipe = forecast_recipe({"~batch.per_device", "batch.global=64"});
  const auto facts = forecast_facts();
  const ForecastRun run{recipe, facts, plan_batch(recipe.batch, 1), {6400, 0}, false, 0, {1, 2, 4}};
  const auto text_of = [&](double passes) {
    return forecast_text(run, {{.devices = 2, .cores = 2, .samples = 64, .passes = passes}}, 0);
  };
  EXPECT_THAT(text_of(0.02), HasSubstr("note: 4 devices: a step takes less than 100 ms"));
  EXPECT_THAT(text_of(0.2), Not(HasSubstr("100 ms")));
}

TEST(Forecast, ExplainsEveryConstant) {
  for (const auto& machine : machines()) {
    const auto text = explained_text(machine);
    for (const auto& [name, constant] : constants_of(machine))
      EXPECT_THAT(text, HasSubstr(std::string(constant.source))) << machine.name << ": " << name;
  }
}

TEST(Forecast, IsOfferedForEveryMachine) {
  const auto* plan = engine_program().find("plan");
  const auto flag = std::ranges::find(plan->flags, "--machine", &Flag::name);
  ASSERT_NE(flag, plan->flags.end());
  std::vector<std::string> words{"here"};
  for (const auto& machine : machines()) words.emplace_back(machine.name);
  EXPECT_EQ(closed_words(flag->value), words);
}

TEST(Forecast, RefusesWhatItCannotDo) {
  const auto recipe = test::in_source("recipes/shapes.yaml");
  const auto refused = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"plan", recipe});
    const auto ran = test::cli_output(flags);
    EXPECT_EQ(ran.code, 2);
    return ran.err;
  };
  EXPECT_THAT(refused({"--machine", "h100x9"}), HasSubstr("did you mean 'h100x8'?"));
  EXPECT_THAT(refused({"--explain"}), HasSubstr("--explain: prints the constants of a --machine"));
  EXPECT_THAT(refused({"--explain", "--machine", "here"}), HasSubstr("other than 'here'"));
  for (const auto* machine : {"h100x8", "here"})
    EXPECT_THAT(refused({"--machine", machine, "--samples", "640"}),
                HasSubstr("--machine: a forecast needs the network to be built"));
}

}  // namespace
}  // namespace ddptrain
