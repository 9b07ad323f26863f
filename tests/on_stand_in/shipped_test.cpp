// Every shipped recipe trains, is evaluated and saves on the stand-in for CUDA; it finds no fault,
// and a step asks for what launch_budgets.cpp says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "end_to_end/shipped_data.h"
#include "on_stand_in/launch_budgets.h"
#include "on_stand_in/stand_in_run.h"

namespace ddptrain::end_to_end {
namespace {

constexpr int kSteps = 12;

std::vector<std::string> words_of(const LaunchBudget& row, const std::string& folder) {
  const auto& how = shipped_table().at("recipes").at(row.recipe);
  const int accumulate = how.value("accumulate", 1), batch = how.at("batch"),
            global = std::max(batch, 2 * accumulate * row.gpus);  // batch norm wants two rows
  std::vector<std::string> words{"run",
                                 test::in_source(row.recipe),
                                 "name=stand-in",
                                 "batch.global=" + std::to_string(global),
                                 "batch.micro=" + std::to_string(global / accumulate / row.gpus),
                                 "parallel.device=cuda",
                                 "parallel.mode=" + row.mode,
                                 "parallel.devices=" + std::to_string(row.gpus),
                                 "data.loader.workers=1",
                                 "train.threads=1",
                                 "log.tensorboard=false",
                                 "checkpoint.every=" + std::to_string(kSteps) + " steps",
                                 "eval.every=" + std::to_string(kSteps) + " steps",
                                 "output.dir=" + folder};
  for (const auto& text : shipped_overrides(how)) {
    if (text.starts_with("eval.every=") || text.starts_with("checkpoint.every=")) continue;
    words.push_back(text.starts_with("train.fine_tune.") ? "~train.fine_tune" : text);
  }
  words.insert(words.end(), row.overrides.begin(), row.overrides.end());
  words.push_back("train.duration=" + std::to_string(kSteps) + " steps");
  return words;
}

LaunchBudget measured(const LaunchBudget& row, const std::vector<StandInCounts>& steps) {
  auto found = row;
  found.launches = median(steps, "step_launches");
  found.graphs = median(steps, "graph_launches");
  found.graph_kernels = median(steps, "graph_kernels");
  found.copies = median(steps, "step_copies") + median(steps, "to_host") +
                 median(steps, "on_device") + median(steps, "memsets");
  found.waits = median(steps, "stream_waits");
  found.host_waits =
      median(steps, "event_waits") + median(steps, "stream_syncs") + median(steps, "device_syncs");
  found.collectives = median(steps, "collectives");
  found.captures = static_cast<int>(steps.back().at("captures"));
  return found;
}

/// As launch_budgets.cpp has it.
std::string text_of(const LaunchBudget& row) {
  std::string text = "{\"" + row.recipe + "\", \"" + row.mode + "\"";
  for (const int number : {row.gpus, row.launches, row.graphs, row.graph_kernels, row.copies,
                           row.waits, row.host_waits, row.collectives, row.captures})
    text += ", " + std::to_string(number);
  std::string overrides;
  for (const auto& each : row.overrides)
    overrides += (overrides.empty() ? "\"" : ", \"") + each + "\"";
  return text + (overrides.empty() ? "" : ", {" + overrides + "}") + "},";
}

class ShippedOnTheStandIn : public ::testing::TestWithParam<LaunchBudget> {};

TEST_P(ShippedOnTheStandIn, AsksOfCudaWhatTheTableSays) {
  if (stand_in_folder().empty()) GTEST_SKIP() << kNoStandIn;
  const auto& row = GetParam();
  const Folder folder;
  const auto run = on_stand_in(words_of(row, folder.path()), row.gpus);
  ASSERT_EQ(run.ended.code, 0) << run.ended.err;
  EXPECT_EQ(run.faults, "");
  EXPECT_EQ(run.loads, "") << "kernels are used for the first time within a capture";
  const std::size_t ranks = row.mode == "dp" ? 1 : static_cast<std::size_t>(row.gpus);
  ASSERT_EQ(run.steps.size(), ranks);
  if (row.mode != "dp") {
    EXPECT_EQ(run.collectives.size(), row.gpus > 1 ? ranks : 0);
    EXPECT_EQ(collectives_that_differ(run), "");
  }
  std::vector<LaunchBudget> found;
  for (const auto& marks : run.steps) {
    const auto steps = after_steps(marks, kSteps);
    ASSERT_EQ(steps.size(), std::size_t{kSteps}) << ::testing::PrintToString(sizes_of(marks));
    EXPECT_EQ(steps.back().at("broken_captures"), 0);
    EXPECT_GT(steps.back().at("blocks"), 0) << "LibTorch's allocator was not watched";
    found.push_back(measured(row, steps));
  }
  const auto most = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.launches < b.launches;
  });
  if (test::torch_version() != kCountedWith && text_of(*most) != text_of(row))
    GTEST_SKIP() << "without faults; LibTorch " << test::torch_version() << " asks for "
                 << text_of(*most) << " and " << kCountedWith << " for " << text_of(row);
  EXPECT_EQ(text_of(*most), text_of(row));
}

std::string name_of(const ::testing::TestParamInfo<LaunchBudget>& given) {
  const auto& row = given.param;
  auto name = row.recipe + "_" + row.mode + "_" + std::to_string(row.gpus);
  for (const auto& text : row.overrides) name += "_" + text;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recipes, ShippedOnTheStandIn, ::testing::ValuesIn(launch_budgets()),
                         name_of);

TEST(LaunchBudgets, HaveEveryShippedRecipeOnOneTwoAndEightGpus) {
  std::set<std::string> all;
  for (const auto& [file, how] : shipped_table().at("recipes").items())
    if (file.starts_with("recipes/")) all.insert(file);
  const std::vector<std::pair<std::string, int>> ways{
      {"none", 1}, {"ddp", 2}, {"ddp", 8}, {"dp", 2}};
  for (const auto& [mode, gpus] : ways) {
    std::set<std::string> found;
    for (const auto& row : launch_budgets())
      if (row.overrides.empty() && row.mode == mode && row.gpus == gpus) found.insert(row.recipe);
    EXPECT_EQ(found, all) << mode << " " << gpus;
  }
}

}  // namespace
}  // namespace ddptrain::end_to_end
