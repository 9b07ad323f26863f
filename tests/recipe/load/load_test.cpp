#include "recipe/load/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files/files.h"
#include "config/encode.h"
#include "recipe/catalogs.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// Recipes in a folder of their own, which is the current one while a test runs.
class Load : public testing::Test {
 protected:
  Load() : folder_(fs::temp_directory_path() / ("ddptrain_load_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "base");
    before_ = fs::current_path();
    fs::current_path(folder_);
  }
  ~Load() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  static void write(const std::string& name, const std::string& text) {
    write_atomically(name, text);
  }
  static Loaded load(const std::vector<std::string>& files,
                     const std::vector<std::string>& overrides = {}) {
    return load_recipe(files, overrides, testing_recipes::catalogs());
  }
  /// The first lines of all problems.
  static std::vector<std::string> problems(const Loaded& loaded) {
    std::vector<std::string> lines;
    for (const auto& problem : loaded.problems) {
      const auto text = render(problem);
      lines.push_back(text.substr(0, text.find('\n')));
    }
    return lines;
  }
  using Lines = std::vector<std::string>;
  const std::string good_ =
      "model: mlp\ndata: {type: image_folder, root: pictures}\nbatch: {global: 8}\n";
  fs::path folder_, before_;
};

TEST_F(Load, AShortRecipeGetsEveryDefault) {
  write("a.yaml", good_);
  const auto loaded = load({"a.yaml"});
  EXPECT_EQ(problems(loaded), Lines{});
  EXPECT_EQ(loaded.recipe.model.type(), "mlp");
  EXPECT_EQ(loaded.recipe.optimizer.type(), "adamw");
  EXPECT_EQ(loaded.recipe.train.duration, epochs(1));
}

TEST_F(Load, AveragingBeginsAtThreeQuartersOfTheRun) {
  write("a.yaml", good_ + "train: {swa: {}}\n");
  const auto loaded = load({"a.yaml"});
  EXPECT_EQ(problems(loaded), Lines{});
  ASSERT_TRUE(loaded.recipe.train.swa);
  EXPECT_EQ(to_text(loaded.recipe.train.swa->start), "75 %");
}

TEST_F(Load, SaysAllProblemsAtOnce) {
  write("a.yaml",
        "name: 5\nmodel: mpl\ndata: {type: image_folder, roots: x}\nbatch: {global: 0}\n"
        "train: {duration: 5, precision: fp8}\noptimizer: {type: sgd, weight_decy: 1, lr: 0}\n"
        "metrics: accuracy\nmax_epochs: 3\nparallel: {devices: many}\n");
  EXPECT_EQ(
      problems(load({"a.yaml"})),
      (Lines{
          "a.yaml:1:7: error[bad-value]: name: '5' is not text; write \"5\" with quotes",
          "a.yaml:2:8: error[unknown-component]: model: 'mpl' is not a model; did you mean "
          "'mlp'?",
          "a.yaml:3:28: error[unknown-key]: data: 'roots' is not an option of 'image_folder'; did "
          "you mean 'root'?",
          "a.yaml:4:17: error[bad-value]: batch.global: 0 is below the minimum 1",
          "a.yaml:5:19: error[bad-value]: train.duration: '5' has no unit; write '5 epochs' or '5 "
          "steps'",
          "a.yaml:5:33: error[bad-value]: train.precision: 'fp8' is not one of fp64, fp32, tf32, "
          "bf16, fp16: fp8 wants GPU kernels that have not been proved here; bf16 comes nearest; "
          "or "
          "write auto",
          "a.yaml:6:24: error[unknown-key]: optimizer: 'weight_decy' is not an option of 'sgd'; "
          "did you mean 'weight_decay'?",
          "a.yaml:6:44: error[bad-value]: optimizer.lr: 0 is not above 0",
          "a.yaml:7:10: error[bad-value]: metrics: 'accuracy' is not a list; write [accuracy]",
          "a.yaml:8:1: error[foreign-key]: 'max_epochs' is not a key of a recipe; here it is "
          "'train.duration', as in '5 epochs'",
          "a.yaml:9:21: error[bad-value]: parallel.devices: 'many' is not an integer; or write "
          "auto",
      }));
}

TEST_F(Load, MapsMergeAndListsReplaceThroughExtends) {
  write("base/b.yaml",
        good_ + "optimizer: {type: sgd, lr: 0.5, momentum: 0.9}\nmetrics: [accuracy, top_k]\n");
  write("a.yaml", "extends: [base/b.yaml]\noptimizer: {lr: 0.25}\nmetrics: [top_k]\n");
  const auto loaded = load({"a.yaml"});
  EXPECT_EQ(problems(loaded), Lines{});
  EXPECT_EQ(loaded.recipe.optimizer.node().find("momentum")->text, "0.9");
  EXPECT_EQ(loaded.recipe.optimizer.node().find("lr")->text, "0.25");
  EXPECT_EQ(loaded.recipe.metrics.value->size(), 1u);
  EXPECT_EQ(place_of(loaded.tree, "optimizer.momentum").file, "base/b.yaml");
  EXPECT_EQ(place_of(loaded.tree, "optimizer.lr").line, 2);
  EXPECT_EQ(loaded.sources.size(), 2u);
}

TEST_F(Load, ALayerThatChangesTheTypeDropsTheOptionsBelow) {
  write("b.yaml", good_ + "optimizer: {type: sgd, lr: 0.5}\n");
  write("a.yaml", "extends: b.yaml\noptimizer: {type: plain}\n");
  const auto dropped = [](const std::string& by, const std::string& other) {
    return Lines{"b.yaml:4:28: warning[dropped-option]: optimizer.lr: '0.5' is dropped: " + by +
                 " changes optimizer from 'sgd' to 'plain', which has no 'lr'" + other};
  };
  const std::string removal = "; '~optimizer.lr' says that it is not wanted";
  EXPECT_EQ(problems(load({"a.yaml"})), dropped("a.yaml:2:19", ""));
  EXPECT_EQ(problems(load({"b.yaml"}, {"optimizer.type=plain"})),
            dropped("command line:1", removal));
  EXPECT_EQ(problems(load({"b.yaml"}, {"optimizer=plain"})), dropped("command line:1", removal));
  EXPECT_EQ(problems(load({"b.yaml"}, {"optimizer=plain", "optimizer.type=sgd", "optimizer.lr=1"})),
            Lines{});
}

TEST_F(Load, ACycleOfExtendsPrintsItsChain) {
  write("a.yaml", "extends: base/b.yaml\n");
  write("base/b.yaml", "extends: ../a.yaml\n");
  EXPECT_EQ(
      problems(load({"a.yaml"})),
      Lines{"base/b.yaml:1:10: error[extends-cycle]: a.yaml extends base/b.yaml extends a.yaml"});
}

TEST_F(Load, AFileThatIsNotThereIsNamedWhereItIsAskedFor) {
  write("a.yaml", "extends: [none.yaml]\n" + good_);
  EXPECT_EQ(problems(load({"a.yaml"})),
            Lines{"a.yaml:1:11: error[file]: cannot read 'none.yaml': no such file or directory"});
  EXPECT_EQ(problems(load({"b.yaml"})),
            Lines{"error[file]: cannot read 'b.yaml': no such file or directory"});
}

TEST_F(Load, WhatIsNoFileOnTheCommandLineGetsAHint) {
  write("shapes.yaml", good_);
  fs::create_directories("runs/x/001");
  write("runs/x/001/recipe.yaml", good_);
  const auto first = [&](const std::string& file) { return problems(load({file})).at(0); };
  const std::string read = "error[file]: cannot read '", none = "': no such file or directory; ";
  EXPECT_EQ(first("shape.yaml"), read + "shape.yaml" + none + "did you mean 'shapes.yaml'?");
  EXPECT_EQ(first("optimizer.lr"),
            read + "optimizer.lr" + none + "a value is changed with 'optimizer.lr=VALUE'");
  EXPECT_EQ(first("runs/x/001"), read +
                                     "runs/x/001': is a directory; its recipe is "
                                     "'runs/x/001/recipe.yaml'");
}

TEST_F(Load, AFileThatCannotBeReadHidesNoProblemOfTheOthers) {
  write("base/b.yaml", "optimizer: {type: sgd\n");
  write("c.yaml", "seed: x\n");
  write("a.yaml", "extends: [base/b.yaml, c.yaml]\nlr: 1\nbatch: {micro: \"${batch.global}\"}\n");
  EXPECT_EQ(problems(load({"a.yaml"})),
            (Lines{"base/b.yaml:1:12: error[syntax]: '{' is not closed",
                   "c.yaml:1:7: error[bad-value]: seed: 'x' is not an integer",
                   "a.yaml:2:1: error[unknown-key]: 'lr' is not a key of a recipe; did you mean "
                   "'optimizer.lr'?"}))
      << "neither the missing model nor the reference into what was not read";
}

TEST_F(Load, OverridesSetRemoveAndAppend) {
  write("a.yaml", good_ + "optimizer: sgd\ntrain: {clip: norm}\n");
  const auto loaded = load({"a.yaml"}, {"optimizer.lr=0.5", "~train.clip", "metrics+=top_k",
                                        "data.transforms=[flip, {type: resize, size: 8}]",
                                        "data.transforms[resize].size=96", "seed=7"});
  EXPECT_EQ(problems(loaded), Lines{});
  EXPECT_EQ(loaded.recipe.optimizer.node().find("lr")->text, "0.5");
  EXPECT_FALSE(loaded.recipe.train.clip);
  EXPECT_EQ(loaded.recipe.metrics.value->size(), 2u);
  EXPECT_EQ(place_of(loaded.tree, "data.transforms[1].size").line, 5);
  EXPECT_EQ(loaded.tree.find("data")->find("transforms")->items[1].find("size")->text, "96");
}

TEST_F(Load, WrongOverridesAreProblemsOfTheCommandLine) {
  write("a.yaml", good_);
  EXPECT_EQ(problems(load({"a.yaml"}, {"seed=x", "~train.clip", "metrics[3].k=5", "=5", "seed+=3",
                                       "batch.global=[1", "batch.gobal=8"})),
            (Lines{"command line:2: error[override]: train.clip: there is nothing here to remove",
                   "command line:3: error[override]: there is no 'metrics' here",
                   "command line:4: error[override]: '' is not a key; write 'optimizer.lr=0.1' or "
                   "'data.transforms.train[0].size=96'",
                   "command line:5: error[override]: seed: '+=' adds to a list, and this is none",
                   "command line:6: error[override]: batch.global: '[' is not closed",
                   "command line:7: error[unknown-key]: batch: 'gobal' is not an option of "
                   "'batch'; did you mean 'global'?",
                   "command line:1: error[bad-value]: seed: 'x' is not an integer"}));
}

TEST_F(Load, ReferencesTakeValuesFromOutside) {
  ::setenv("DDPTRAIN_TEST_LR", "0.25", 1);
  ::unsetenv("DDPTRAIN_TEST_NONE");
  write("a.yaml",
        "model: mlp\nx-size: 32\ndata: {type: image_folder, root: "
        "\"${env:DDPTRAIN_TEST_NONE:-pictures}/${name}\"}\n"
        "name: n\nbatch: {global: 16, micro: \"${batch.global}\"}\noptimizer:\n  type: sgd\n  lr: "
        "${env:DDPTRAIN_TEST_LR}\n");
  const auto loaded = load({"a.yaml"});
  EXPECT_EQ(problems(loaded), Lines{});
  EXPECT_EQ(loaded.recipe.optimizer.node().find("lr")->text, "0.25");
  EXPECT_EQ(loaded.recipe.data.node().find("root")->text, (folder_ / "pictures/n").string());
  EXPECT_EQ(loaded.recipe.batch.micro.value, 16);
}

TEST_F(Load, AReferenceWithoutValueIsOneProblemAtItsPlace) {
  ::unsetenv("DDPTRAIN_TEST_NONE");
  write("a.yaml", good_ +
                      "optimizer: {type: sgd, lr: \"${env:DDPTRAIN_TEST_NONE}\"}\nseed: "
                      "${data.rot}\nname: ${name}\noutput: {dir: \"runs/${data}\"}\n");
  EXPECT_EQ(
      problems(load({"a.yaml"})),
      (Lines{"a.yaml:4:28: error[reference]: optimizer.lr: the environment has no "
             "'DDPTRAIN_TEST_NONE'; set it, or write '${env:DDPTRAIN_TEST_NONE:-default}'",
             "a.yaml:5:7: error[reference]: seed: '${data.rot}' names no key that this recipe sets",
             "a.yaml:6:7: error[reference]: name: '${name}' refers to itself",
             "a.yaml:7:15: error[reference]: output.dir: '${data}' is not a single value"}));
  EXPECT_EQ(problems(load({"a.yaml"}, {"optimizer.lr=1", "seed=1", "name=x", "output.dir=y"})),
            Lines{})
      << "an override makes the reference moot";
}

TEST_F(Load, PathsAreRelativeToTheFileThatWroteThem) {
  write("base/b.yaml", good_);
  write("a.yaml", "extends: base/b.yaml\noutput: {dir: out}\n");
  auto loaded = load({"a.yaml"});
  EXPECT_EQ(loaded.recipe.data.node().find("root")->text, (folder_ / "base/pictures").string());
  EXPECT_EQ(loaded.recipe.output.dir, (folder_ / "out").string());
  loaded = load({"a.yaml"}, {"data.root=here"});
  EXPECT_EQ(loaded.recipe.data.node().find("root")->text, (folder_ / "here").string());
}

TEST_F(Load, ShorthandsReadAsRecords) {
  write("a.yaml", good_ + "parallel: {mode: dp, device: cuda, devices: [0, 2]}\n");
  auto loaded = load({"a.yaml"});
  EXPECT_EQ(problems(loaded), Lines{});
  EXPECT_EQ(loaded.recipe.parallel.devices.ids, (std::vector<std::int64_t>{0, 2}));
  loaded = load({"a.yaml"}, {"parallel.devices=4"});
  EXPECT_EQ(loaded.recipe.parallel.devices.count.value, 4);
}

TEST_F(Load, RulesBetweenPartsPointAtWhatIsWritten) {
  write("a.yaml", good_ +
                      "parallel: {mode: ddp, devices: 3, sync_bn: true}\n"
                      "train: {duration: 2 epochs}\nschedule: {type: one_cycle, warmup: 3 epochs}\n"
                      "optimizer: plain\ncheckpoint: {keep_best: {metric: f1}}\n");
  EXPECT_EQ(problems(load({"a.yaml"})),
            (Lines{"a.yaml:3:17: error[batch]: batch.global: 8 cannot be split over 3 devices; "
                   "nearest: 6, 9",
                   "a.yaml:4:44: error[sync-bn]: parallel.sync_bn: 'mlp' has no batch norm; "
                   "'sync_bn: auto' is for recipes of models with and without",
                   "a.yaml:6:37: error[warmup]: schedule.warmup: '3 epochs' of warm-up is longer "
                   "than the run of '2 epochs'",
                   "a.yaml:6:11: warning[momentum-cycle]: schedule: 'one_cycle' cycles momentum, "
                   "and 'plain' has none",
                   "a.yaml:8:34: error[keep-best-metric]: checkpoint.keep_best.metric: 'f1' is not "
                   "among the metrics; add it to 'metrics'"}));
}

TEST_F(Load, TheResolvedRecipeReadsBackToTheSame) {
  write("a.yaml", good_ +
                      "output: {dir: out}\n"
                      "optimizer: {type: sgd, weight_decay: 1e-4, no_decay: [norm, \"7\", \"a: "
                      "b\"]}\nexpect: {valid/accuracy: "
                      "{min: 0.5}}\nparallel: {device: cuda, mode: ddp, devices: [0, 2]}\n");
  auto loaded = load({"a.yaml"});
  ASSERT_EQ(problems(loaded), Lines{});
  const auto& catalogs = testing_recipes::catalogs();
  const auto text = to_yaml(encode(loaded.recipe, &catalogs));
  write("b.yaml", text);
  auto again = load({"b.yaml"});
  EXPECT_EQ(problems(again), Lines{}) << text;
  EXPECT_EQ(to_yaml(encode(again.recipe, &catalogs)), text);
  EXPECT_THAT(text, testing::HasSubstr("momentum: 0"));
}

TEST_F(Load, ANewerFormatNeedsANewerProgram) {
  write("a.yaml", "recipe: 2\n" + good_);
  EXPECT_EQ(
      problems(load({"a.yaml"})),
      Lines{"a.yaml:1:9: error[newer-format]: recipe: format 2 needs a newer ddptrain; this one "
            "reads up to format 1"});
  write("a.yaml", "recipe: 0\n" + good_);
  EXPECT_EQ(problems(load({"a.yaml"})),
            Lines{"a.yaml:1:9: error[bad-value]: recipe: 0 is below the minimum 1"});
}

}  // namespace
}  // namespace ddptrain
