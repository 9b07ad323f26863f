// What verbs that work on runs and data say of words, files and runs that they cannot use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/saving/save.h"
#include "cli/cli_output.h"
#include "launch/in_child.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

class Refusals : public testing::Test {
 protected:
  static std::string refusal(const std::vector<std::string>& words) {
    const auto answer = test::cli_output(words);
    EXPECT_NE(answer.code, 0) << answer.out;
    return answer.err;
  }
  std::string recipe(const std::string& name, const std::string& more) const {
    std::string rows = "x,y\n";
    for (int i = 0; i < 12; ++i) rows += std::to_string(i) + ",a\n" + std::to_string(i) + ",b\n";
    folder_.write("table/t.csv", rows);
    return folder_.write(name, "recipe: 1\nmodel: tabular\nbatch: {global: 2}\n" + more);
  }
  /// A folder as a run leaves it.
  std::string run(const std::string& name) const {
    recipe(name + "/recipe.yaml",
           "data: {type: csv_table, file: " + (folder_ / "table/t.csv") + ", target: y}\n");
    return folder_ / name;
  }

  TemporaryFolder folder_;
  test::Inside inside_{folder_.path()};
};

TEST_F(Refusals, OfAverageNameWhatIsLacking) {
  EXPECT_EQ(refusal({"average", "a", "b", "--output", "x.pt"}),
            "error: average needs --output FILE.safetensors\n");
  EXPECT_THAT(refusal({"average", "a", "--output", "x.safetensors"}),
              HasSubstr("error: 'a' is not a run folder: it is not there;"));
  const auto early = run("early");
  EXPECT_EQ(refusal({"average", early, "--output", "x.safetensors"}),
            "error: no complete checkpoint in '" + early + "/checkpoints'\n");
}

TEST_F(Refusals, OfExportNameTheFormat) {
  EXPECT_EQ(refusal({"export", "m.onnx"}),
            "error: 'm.onnx' is the file to write; write the run before it: 'ddptrain export "
            "RUN_FOLDER m.onnx'\n");
  EXPECT_EQ(refusal({"export", "a", "b"}),
            "error: 'b': a file ends in .safetensors (weights, for PyTorch, timm and Hugging "
            "Face), .pt (TorchScript) or .onnx\n");
  EXPECT_EQ(refusal({"export", "a"}),
            "error: usage: ddptrain export RUN_FOLDER FILE.safetensors|pt|onnx\n");
}

TEST_F(Refusals, OfARunNameTheFolder) {
  for (const std::string verb : {"eval", "resume", "report", "compare", "runs"})
    EXPECT_THAT(
        refusal({verb, "none"}),
        StartsWith("error: 'none' is not a run folder: it is not there; runs are "
                   "runs/NAME/001 and so on, and runs/NAME/latest is the newest; there are "))
        << verb;
  const auto early = run("early");
  EXPECT_EQ(refusal({"export", early, "x.safetensors"}),
            "error: no complete checkpoint in '" + early +
                "/checkpoints'; the run was interrupted before its first\n");
  EXPECT_THAT(refusal({"export", early, "x.safetensors", "--checkpoint", "best"}),
              EndsWith("error: no checkpoint '" + early + "/checkpoints/best'\n"));
  EXPECT_THAT(refusal({"eval", early, "seed=x"}),
              EndsWith("error: the recipe of this run cannot be used with these changes\n"));
}

TEST_F(Refusals, OfARunThatHasItsCheckpoint) {
  const auto whole = run("whole");
  Checkpoint checkpoint;
  checkpoint.step = 1;
  checkpoint.state = "{}\n";
  const auto saved = save_checkpoint(whole + "/checkpoints", checkpoint);
  EXPECT_EQ(refusal({"resume", whole, "--from-scratch"}),
            "error: --from-scratch: this run can continue from '" + saved + "'; 'ddptrain run " +
                whole + "/recipe.yaml' starts another one from the first step\n");
  EXPECT_EQ(refusal({"export", whole, "x.safetensors", "--ema"}),
            "error: --ema: this run keeps no average of weights (train.ema, train.swa)\n");
}

TEST_F(Refusals, OfDataNameTheWord) {
  EXPECT_EQ(refusal({"data", "mak", "x"}),
            "error: 'data' has no action 'mak'; did you mean 'make'?\n");
  EXPECT_EQ(refusal({"data", "zzz", "x"}),
            "error: 'data' has no action 'zzz'; there are get, check, stats, show, tokens, shards, "
            "make\n");
  EXPECT_EQ(refusal({"data", "make", "table", "x", "--train", "3"}),
            "error: --train has no effect on 'data make table'\n");
  EXPECT_EQ(refusal({"data", "make", "shapes", "x", "--rows", "3"}),
            "error: --rows has no effect on 'data make shapes'\n");
  EXPECT_EQ(refusal({"data", "make", "table", "x", "--rows", "0"}),
            "error: --rows: '0' is not a whole number above 0\n");
}

TEST_F(Refusals, OfPredictAskForFiles) {
  EXPECT_EQ(refusal({"predict", "x"}),
            "error: nothing to predict: name files or folders, or '--list FILE'\n");
}

TEST_F(Refusals, OfGenerateNameTheFlag) {
  EXPECT_EQ(refusal({"generate", "x", "--tokens", "0"}),
            "error: --tokens: '0' is no integer from 1 upwards\n");
  EXPECT_THAT(refusal({"generate", "x", "--top-p", "1.5"}), HasSubstr("error: --top-p: "));
  EXPECT_THAT(refusal({"generate", "x", "--top-k", "many"}), HasSubstr("error: --top-k: "));
  EXPECT_EQ(refusal({"generate", "x", "--greedy", "--temperature", "1"}),
            "error: --greedy and --temperature exclude each other\n");
  EXPECT_EQ(refusal({"generate", "x", "once", "-"}),
            "error: '-' reads prompts from stdin, one a line, and goes with no other\n");
  EXPECT_EQ(refusal({"generate", "x", "--stop", ""}), "error: --stop: the text is empty\n");
}

TEST_F(Refusals, OfDataThatAreNotFetched) {
  const auto file = recipe("r.yaml", "data: {type: csv_table, file: " + (folder_ / "gone/t.csv") +
                                         ", target: y, source: {file: " + (folder_ / "a.zip") +
                                         ", md5: e793b78cc4c9e9a4ccc0c1155377a412}}\n");
  EXPECT_THAT(refusal({"validate", "--level", "data", file}),
              HasSubstr("error[data-level]: data.source: the data are not there; 'ddptrain data "
                        "get' fetches them\n"));
  EXPECT_THAT(refusal({"plan", file}),
              EndsWith("the data are not there; 'ddptrain data get RECIPE' fetches them, or "
                       "--samples N plans without\n"));
}

TEST_F(Refusals, OfALossThatIsNotFinite) {
  const auto file = recipe("r.yaml",
                           "loss: {type: cross_entropy, weight: [1e-300, 1e-300]}\n"
                           "data: {type: csv_table, file: table/t.csv, target: y}\n");
  EXPECT_THAT(refusal({"validate", "--level", "model", file}),
              HasSubstr("error[model-level]: the loss of the first samples is not finite\n"));
}

TEST(InChild, SaysHowTheProcessEnded) {
  EXPECT_EQ(in_child([] { return std::string("looked"); }), "looked");
  EXPECT_THAT([] { in_child([] { return ::raise(SIGKILL), std::string(); }); },
              ThrowsMessage<Error>("the process was killed, as happens where memory ends"));
  EXPECT_THAT([] { in_child([]() -> std::string { ::_exit(3); }); },
              ThrowsMessage<Error>("a bug in ddptrain: the process that looked ended early"));
  rlimit whole{};
  ::getrlimit(RLIMIT_NOFILE, &whole);
  const rlimit none{0, whole.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  std::string message;
  try {
    in_child([] { return std::string(); });
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &whole);
  EXPECT_EQ(message, "cannot make a pipe: Too many open files");
}

}  // namespace
}  // namespace ddptrain
