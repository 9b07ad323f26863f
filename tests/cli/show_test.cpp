// `show --full`, `--minimal` and `--why`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "cli/cli_output.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using test::cli_output;
using testing::HasSubstr;
using testing::Not;

/// A base and a recipe over it, in a folder of their own.
class Show : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("base.yaml",
                  "recipe: 1\n"
                  "model: {type: mlp}\n"
                  "data: {type: mnist, root: digits}\n"
                  "optimizer: {type: sgd, lr: 0.5, momentum: 0.9}\n"
                  "train: {clip: {type: norm, max: 1}}\n"
                  "batch: {global: 64}\n");
    folder_.write("own.yaml",
                  "recipe: 1\n"
                  "extends: base.yaml\n"
                  "optimizer:\n"
                  "  type: adam\n"
                  "  lr: 0.25\n");
  }
  TemporaryFolder folder_;
  test::Inside inside_{folder_.path()};
};

std::string line_of(const std::string& text, const std::string& start) {
  for (const auto& line : split(text, '\n'))
    if (trim(line).starts_with(start)) return std::string(trim(line));
  return "none";
}

TEST_F(Show, FullSaysWhereEachValueCameFrom) {
  const auto full = cli_output({"show", "--full", "own.yaml", "seed=7"}).out;
  const auto expect = [&](const std::string& start, const std::string& comment) {
    EXPECT_TRUE(line_of(full, start).ends_with("  # " + comment)) << line_of(full, start);
  };
  expect("seed: 7", "override seed=7");
  expect("name: run", "default");
  expect("type: adam", "own.yaml:4");
}

TEST_F(Show, CommentsStandBelowEachOther) {
  const auto full = cli_output({"show", "--full", "own.yaml"}).out;
  std::vector<std::size_t> columns;
  for (const auto& line : split(full, '\n')) {
    const auto mark = line.find("  # ");
    if (mark != std::string::npos && line.find_last_not_of(' ', mark) < 46)
      columns.push_back(mark + 2);
  }
  ASSERT_GT(columns.size(), 40U);
  EXPECT_EQ(*std::min_element(columns.begin(), columns.end()),
            *std::max_element(columns.begin(), columns.end()));
}

TEST_F(Show, WhyListsLayersStrongestFirst) {
  const auto why =
      cli_output({"show", "own.yaml", "optimizer.lr=0.125", "--why", "optimizer.lr"}).out;
  const auto lines = split(why, '\n');
  ASSERT_GE(lines.size(), 6U) << why;
  EXPECT_EQ(lines[0], "optimizer.lr: 0.125");
  EXPECT_EQ(lines[1], "  override optimizer.lr=0.125: 0.125");
  EXPECT_EQ(lines[2], "  own.yaml:5:7: 0.25");
  EXPECT_EQ(lines[3], "  own.yaml:4:9: 'optimizer' became adam: the options of sgd fell away");
  EXPECT_EQ(lines[4], "  base.yaml:4:28: 0.5");
  EXPECT_TRUE(lines[5].starts_with("  default: 0.001")) << lines[5];
}

TEST_F(Show, WhyTellsWhatAChangeOfTypeTookAway) {
  const auto why = cli_output({"show", "own.yaml", "--why", "optimizer.momentum"}).out;
  EXPECT_EQ(why,
            "optimizer.momentum: not in this recipe\n"
            "  own.yaml:4:9: 'optimizer' became adam: the options of sgd fell away\n"
            "  base.yaml:4:43: 0.9\n");
}

TEST_F(Show, WhyTellsWhatAChangeOfTypeOnTheCommandLineTookAway) {
  const auto lr =
      cli_output({"show", "own.yaml", "optimizer.type=sgd", "--why", "optimizer.lr"}).out;
  EXPECT_THAT(lr, HasSubstr("  override optimizer.type=sgd: 'optimizer' became sgd: the options of "
                            "adam fell away\n  own.yaml:5:7: 0.25\n"));
  const auto kept = cli_output(
      {"show", "own.yaml", "optimizer.lr=0.5", "optimizer.type=sgd", "--why", "optimizer.lr"});
  EXPECT_TRUE(kept.out.starts_with("optimizer.lr: 0.5\n  override optimizer.lr=0.5: 0.5\n"))
      << kept.out;
}

TEST_F(Show, WhyKnowsWhatOutlivesAType) {
  folder_.write("weights.yaml", "recipe: 1\nextends: base.yaml\nmodel: {weights: a.pth}\n");
  const auto why =
      cli_output({"show", "weights.yaml", "model.type=resnet18", "--why", "model.weights"}).out;
  const auto lines = split(why, '\n');
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[1], "  weights.yaml:3:18: a.pth") << why;
}

TEST_F(Show, WhyTellsWhatRemovedAKey) {
  const auto why = cli_output({"show", "own.yaml", "~train.clip", "--why", "train.clip.max"}).out;
  EXPECT_EQ(why,
            "train.clip.max: not in this recipe\n"
            "  override ~train.clip: removed by ~train.clip\n"
            "  base.yaml:5:33: 1\n");
  const auto clip = cli_output({"show", "own.yaml", "~train.clip", "--why", "train.clip"}).out;
  EXPECT_THAT(clip,
              HasSubstr("train.clip: null\n  override ~train.clip: removed by ~train.clip\n"));
}

TEST_F(Show, WhyOfADefaultSaysTheDefaultAndWhatItIs) {
  const auto why = cli_output({"show", "own.yaml", "--why", "batch.micro"}).out;
  EXPECT_EQ(why,
            "batch.micro: auto\n"
            "  the default; no layer sets it\n"
            "  micro is integer (samples), at least 1, or auto: Samples per device and forward "
            "pass; auto takes what global and accumulate leave, halved until it fits where a CUDA "
            "device has no memory for it.\n");
}

TEST_F(Show, WhyLooksIntoLists) {
  folder_.write("list.yaml",
                "extends: base.yaml\n"
                "metrics: [accuracy, {type: top_k, k: 3}]\n");
  const auto item =
      cli_output({"show", "list.yaml", "metrics[top_k].k=2", "--why", "metrics[top_k].k"});
  EXPECT_THAT(item.out, HasSubstr("metrics[top_k].k: 2\n  override metrics[top_k].k=2: 2\n"
                                  "  list.yaml:2:38: 3\n  default: 5\n"));
  const auto gone =
      cli_output({"show", "list.yaml", "metrics=[accuracy]", "--why", "metrics[top_k].k"});
  EXPECT_THAT(gone.out, HasSubstr("not in this recipe\n  override metrics=[accuracy]: replaced as "
                                  "a whole by metrics=[accuracy]\n  list.yaml:2:38: 3\n"));
}

TEST_F(Show, WhyOfAComponentShowsWhatEachLayerSaysOfIt) {
  const auto why = cli_output({"show", "own.yaml", "optimizer.eps=1e-6", "--why", "optimizer"}).out;
  EXPECT_THAT(why, HasSubstr("  override optimizer.eps=1e-6: {eps: 1e-6}\n"
                             "  own.yaml:4:3: {type: adam, lr: 0.25}\n"));
}

TEST_F(Show, WhySuggestsTheKeyThatWasMeant) {
  const auto meant = [&](const std::string& key) {
    const auto answer = cli_output({"show", "own.yaml", "--why", key});
    EXPECT_EQ(answer.code, 2);
    return answer.err;
  };
  EXPECT_THAT(meant("optimzer.lr"), HasSubstr("did you mean 'optimizer.lr'?"));
  EXPECT_THAT(meant("lr"), HasSubstr("did you mean 'optimizer.lr'?"));
  EXPECT_THAT(meant("train.clip.mx"), HasSubstr("did you mean 'train.clip.max'?"));
  EXPECT_THAT(meant("no such"),
              testing::EndsWith("error: --why: 'no such' is not a key such as optimizer.lr\n"));
  EXPECT_THAT(
      meant("qqqqq.zzzzz"),
      testing::EndsWith(
          "error: --why: this recipe has no 'qqqqq.zzzzz'; 'ddptrain show --full' shows what it "
          "has\n"));
}

TEST_F(Show, FlagsThatContradictAreRefused) {
  const auto answer = cli_output({"show", "own.yaml", "--full", "--minimal"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.err, "error: --full, --minimal and --why exclude each other\n");
  EXPECT_EQ(cli_output({"show", "-", "--why", "seed"}).err,
            "error: --why reads a recipe twice; name a file instead of '-'\n");
}

TEST_F(Show, KeepsSecretsOut) {
  ::setenv("DDPTRAIN_TEST_TOKEN", "hunter2", 1);
  for (const std::string flag : {"--full", "--minimal"}) {
    const auto out =
        cli_output({"show", "own.yaml", "name=a-${env:DDPTRAIN_TEST_TOKEN}", flag}).out;
    EXPECT_THAT(out, Not(HasSubstr("hunter2")));
    EXPECT_THAT(out, HasSubstr("a-${env:DDPTRAIN_TEST_TOKEN}"));
  }
}

TEST_F(Show, ALineBreakInAnOverrideStaysInsideItsComment) {
  const auto full = cli_output({"show", "--full", "own.yaml", "data.root=\"a\\nb\"\n"}).out;
  EXPECT_THAT(full, HasSubstr("# override data.root=\"a\\nb\""));
  folder_.write("again.yaml", full);
  EXPECT_EQ(cli_output({"validate", "again.yaml"}).code, 0) << full;
}

/// What a full recipe says is a recipe that means the same.
TEST(ShowFull, IsARecipeThatMeansTheSame) {
  const test::Inside inside(test::in_source(""));
  int compared = 0;
  for (const auto& file : test::shipped_recipes()) {
    const auto minimal = cli_output({"show", "--minimal", file});
    if (minimal.code != 0) continue;  // a base that lacks what others add
    ++compared;
    const TemporaryFolder folder;
    const auto again = folder.write("full.yaml", cli_output({"show", "--full", file}).out);
    EXPECT_EQ(cli_output({"validate", "-q", again}).err, cli_output({"validate", "-q", file}).err)
        << file;
    EXPECT_EQ(cli_output({"show", "--minimal", again}).out, minimal.out) << file;
    EXPECT_EQ(cli_output({"diff", file, again}).out, "") << file;
  }
  EXPECT_GT(compared, 18);
}

}  // namespace
}  // namespace ddptrain
