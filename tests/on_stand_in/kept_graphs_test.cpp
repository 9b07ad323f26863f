// Which graphs of steps are kept, where batches have more shapes than graphs may be kept: the least
// recently used one makes room, and its memory goes back to the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "on_stand_in/stand_in_run.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

/// Batches of four texts, in the order of the file.
constexpr const char* kTexts = R"(recipe: 1
name: texts
model: {type: text_transformer, dim: 256, num_layers: 1, num_heads: 2, dropout: 0}
data:
  type: text_csv
  file: train.csv  # and valid_file: on the command line
  vocabulary: {min_freq: 1}
  sampler: sequential
batch: {global: 4}
train: {duration: 1 epoch}
loss: {type: cross_entropy}
optimizer: {type: adamw, lr: 1e-3}
schedule: {type: constant}
log: {every: 1 step}
)";

/// Words of the texts of each step; the numbers of the first one tell the unit of the loss, so that
/// it is like no other.
using Lengths = std::vector<int>;

/// Four texts of each length.
std::string rows_of(const Lengths& lengths) {
  std::string rows = "text,label\n";
  for (const int words : lengths)
    for (int row = 0; row < 4; ++row) {
      for (int i = 0; i < words; ++i) rows += i % 2 == 0 ? "yes " : "no ";
      rows += row % 2 == 0 ? ",good\n" : ",bad\n";
    }
  return rows;
}

struct GraphRun {
  std::string replayed;  // a letter a step: 'r' of one that a graph made, else '.'
  std::int64_t captures = 0;
  double peak = 0;  // bytes that were reserved at most
};

class KeptGraphs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (stand_in_folder().empty()) GTEST_SKIP() << kNoStandIn;
    write(folder_ / "texts.yaml", kTexts);
    write(folder_ / "valid.csv", rows_of({5}));
  }

  GraphRun run_on(const Lengths& lengths, std::int64_t memory = std::int64_t{80} << 30) {
    write(folder_ / "train.csv", rows_of(lengths));
    std::filesystem::remove_all(folder_ / "runs");
    const auto run = on_stand_in(
        {"run", folder_ / "texts.yaml", "parallel.device=cuda",
         "data.file=" + (folder_ / "train.csv"), "data.valid_file=" + (folder_ / "valid.csv"),
         "output.dir=" + (folder_ / "runs")},
        1, {{"STAND_IN_MEMORY", std::to_string(memory)}});
    EXPECT_EQ(run.ended.code, 0) << run.ended.err;
    EXPECT_EQ(run.faults, "");
    if (run.steps.size() != 1) return {};
    const auto steps = after_steps(run.steps.front(), static_cast<int>(lengths.size()));
    if (steps.size() != lengths.size()) return {};
    GraphRun found{".", steps.back().at("captures"), peak_of_run()};
    for (std::size_t i = 1; i < steps.size(); ++i)
      found.replayed +=
          steps[i].at("graph_launches") > steps[i - 1].at("graph_launches") ? 'r' : '.';
    return found;
  }

 private:
  double peak_of_run() const {
    double most = 0;
    std::istringstream lines(read(folder_ / "runs/texts/001/events.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto event = nlohmann::json::parse(line);
      if (event.contains("device_memory"))
        most = std::max(most, event["device_memory"]["peak_reserved"].get<double>());
    }
    return most;
  }

  Folder folder_;
};

/// `shapes` lengths, of which each has four steps, the last of them captured.
Lengths captured_shapes(int shapes) {
  Lengths lengths{5};
  for (int shape = 0; shape < shapes; ++shape) lengths.insert(lengths.end(), 4, 20 + 20 * shape);
  return lengths;
}

// Of nine shapes the second has waited longest when the ninth is captured, since the first came
// again.
TEST_F(KeptGraphs, AreTheEightThatWereUsedLast) {
  auto lengths = captured_shapes(8);
  lengths.push_back(20);
  lengths.insert(lengths.end(), 4, 300);
  for (int shape = 0; shape < 8; ++shape) lengths.push_back(20 + 20 * shape);
  lengths.push_back(300);
  std::string expected = ".";
  for (int shape = 0; shape < 8; ++shape) expected += "...r";
  expected += "r...r";      // the first shape; the ninth
  expected += "r.rrrrrrr";  // all of them once more
  const auto found = run_on(lengths);
  EXPECT_EQ(found.replayed, expected);
  EXPECT_EQ(found.captures, 9);
}

/// LibTorch 2.15 keeps no workspaces of cuBLAS: each product takes one from the allocator, which in
/// a capture is the memory of that graph.
bool graphs_have_workspaces() { return test::torch_version() >= "2.15"; }

// With the memory of one, of which a part is left: the second shape's takes its place.
TEST_F(KeptGraphs, GiveTheirMemoryBack) {
  auto lengths = captured_shapes(1);
  const auto alone = run_on(lengths);
  EXPECT_EQ(alone.replayed, "....r");
  lengths = captured_shapes(2);
  lengths.insert(lengths.end(), {40, 20});
  const auto found = run_on(
      lengths, static_cast<std::int64_t>((graphs_have_workspaces() ? 1.9 : 1.1) * alone.peak));
  EXPECT_EQ(found.replayed, "....r...rr.");
  EXPECT_EQ(found.captures, 2);
}

// Two of 32 MiB, of the threads of the forward and the backward pass, are most of what these steps
// take.
TEST_F(KeptGraphs, ShareTheWorkspacesOfCublas) {
  if (graphs_have_workspaces()) GTEST_SKIP() << "each graph of this LibTorch has its own";
  constexpr double workspace = 32 << 20;
  const auto one = run_on(captured_shapes(1)), five = run_on(captured_shapes(5));
  EXPECT_EQ(five.replayed, "....r...r...r...r...r");
  EXPECT_GT(one.peak, 2 * workspace);
  EXPECT_LT(five.peak - one.peak, 4 * workspace);
}

}  // namespace
}  // namespace ddptrain::end_to_end
