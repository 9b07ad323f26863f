#include "recipe/layers/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "config/encode.h"
#include "recipe/layers/address.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

class Layers : public testing::Test {
 protected:
  Layers() {
    std::string pattern = (fs::temp_directory_path() / "layers-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Layers() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    fs::create_directories((fs::path(folder_) / name).parent_path());
    std::ofstream(fs::path(folder_) / name) << text;
    return folder_ + "/" + name;
  }

  static std::string text(const Layered& layered, const std::string& a, const std::string& b = {}) {
    const auto* node = layered.tree.find(a);
    if (node && !b.empty()) node = node->find(b);
    return node ? node->text : "nothing";
  }

  using Names = std::vector<std::string>;
  static Names dropped(const Layered& layered) {
    Names names;
    for (const auto& one : layered.dropped) {
      const auto path = one.component + "." + one.key;
      if (!find_at(layered.tree, *read_address(path))) names.push_back(path);  // nor set again
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  /// Its values, whatever the order of keys.
  static std::string sorted_yaml(Node tree) {
    sort(tree);
    return to_yaml(tree);
  }

  std::string folder_;

 private:
  static void sort(Node& node) {
    std::sort(node.members.begin(), node.members.end(),
              [](const Member& a, const Member& b) { return a.key < b.key; });
    for (auto& member : node.members) sort(member.value);
    for (auto& item : node.items) sort(item);
  }
};

TEST_F(Layers, MapsMergeAndListsAndScalarsReplace) {
  const auto base = file("base.yaml", "batch: {global: 64, micro: 8}\nmetrics: [accuracy, loss]\n");
  const auto top = file("top.yaml", "extends: [base.yaml]\nbatch: {global: 32}\nmetrics: [loss]\n");
  const auto read = read_layers({top}, {});
  EXPECT_TRUE(read.problems.empty());
  EXPECT_EQ(text(read, "batch", "global"), "32");
  EXPECT_EQ(text(read, "batch", "micro"), "8");
  EXPECT_EQ(read.tree.find("metrics")->items.size(), 1U);
  EXPECT_EQ(read.tree.find("batch")->find("micro")->place.file, base);
  EXPECT_EQ(read.tree.find("extends"), nullptr);
}

TEST_F(Layers, AnotherTypeDropsTheWeakerOptions) {
  file("base.yaml", "optimizer: {type: sgd, lr: 0.1, momentum: 0.9}\n");
  const auto same = file("same.yaml", "extends: [base.yaml]\noptimizer: {type: sgd, lr: 0.2}\n");
  const auto other = file("other.yaml", "extends: [base.yaml]\noptimizer: {type: adam}\n");
  EXPECT_EQ(text(read_layers({same}, {}), "optimizer", "momentum"), "0.9");
  EXPECT_EQ(text(read_layers({other}, {}), "optimizer", "momentum"), "nothing");
  EXPECT_EQ(text(read_layers({same}, {"optimizer.type=adam"}), "optimizer", "lr"), "nothing");
}

TEST_F(Layers, WordsOfACommandLineAreOneLayerInAnyOrder) {
  const auto base = file("base.yaml",
                         "optimizer: {type: adam, lr: 0.1, betas: [0.8, 0.9]}\n"
                         "steps:\n  - {type: resize, size: 8, at: center}\n");
  const std::vector<std::vector<std::string>> groups{
      {"optimizer.lr=0.5", "optimizer.type=sgd"},
      {"optimizer.lr=0.5", "optimizer=sgd"},
      {"optimizer.lr=0.5", "optimizer={type: sgd, momentum: 0.9}"},
      {"optimizer.inner.lr=0.5", "optimizer.inner.type=sgd", "optimizer.type=lookahead"},
      {"steps[0].size=96", "steps[0].type=crop"},
      {"~optimizer.betas", "~optimizer.lr", "optimizer.type=sgd"},
      {"optimizer.lr=0.5", "optimizer.type=adam"},
      {"optimizer.lr=0.5", "optimizer=adam"}};
  for (auto words : groups) {
    std::sort(words.begin(), words.end());
    const auto first = read_layers({base}, words);
    do {
      const auto read = read_layers({base}, words);
      EXPECT_TRUE(read.problems.empty()) << join(words, " ");
      EXPECT_EQ(sorted_yaml(read.tree), sorted_yaml(first.tree)) << join(words, " ");
      EXPECT_EQ(dropped(read), dropped(first)) << join(words, " ");
    } while (std::next_permutation(words.begin(), words.end()));
  }
  const auto read = read_layers({base}, groups[0]);
  EXPECT_EQ(text(read, "optimizer", "type"), "sgd");
  EXPECT_EQ(text(read, "optimizer", "lr"), "0.5");
  EXPECT_EQ(dropped(read), Names{"optimizer.betas"});
  EXPECT_EQ(dropped(read_layers({base}, groups[5])), Names{});
}

TEST_F(Layers, OptionsOfEveryTypeOfASectionOutliveTheType) {
  const auto base = file("base.yaml",
                         "model: {type: xresnet50, activation: mish, weights: a.pth}\n"
                         "data: {type: image_folder, root: pictures, sampler: weighted}\n");
  for (const auto* word : {"model.type=resnet34", "model=resnet34", "model={type: resnet34}"}) {
    const auto read = read_layers({base}, {word});
    EXPECT_EQ(text(read, "model", "type"), "resnet34") << word;
    EXPECT_EQ(text(read, "model", "weights"), "a.pth") << word;
    EXPECT_EQ(dropped(read), Names{"model.activation"}) << word;
  }
  const auto read = read_layers({base}, {"data.type=manifest"});
  EXPECT_EQ(text(read, "data", "sampler"), "weighted");
  EXPECT_EQ(dropped(read), Names{"data.root"});
}

TEST_F(Layers, ABareWordIsShortForItsType) {
  file("base.yaml", "optimizer: {type: sgd, lr: 0.1}\n");
  const auto same = file("same.yaml", "extends: base.yaml\noptimizer: sgd\n");
  const auto other = file("other.yaml", "extends: base.yaml\noptimizer: adam\n");
  EXPECT_EQ(text(read_layers({same}, {}), "optimizer", "lr"), "0.1");
  EXPECT_EQ(dropped(read_layers({other}, {})), Names{"optimizer.lr"});
}

TEST_F(Layers, OptionsOverABareWordKeepItsType) {
  const auto base = file("base.yaml", "loss: mse\n");
  const auto read = read_layers({base}, {"loss.label_smoothing=0.1"});
  EXPECT_EQ(text(read, "loss", "type"), "mse");
  EXPECT_EQ(text(read, "loss", "label_smoothing"), "0.1");
}

TEST_F(Layers, LaterFilesAreStronger) {
  const auto a = file("a.yaml", "seed: 1\nname: a\n");
  const auto b = file("b.yaml", "seed: 2\n");
  const auto read = read_layers({a, b}, {"seed=3"});
  EXPECT_EQ(text(read, "seed"), "3");
  EXPECT_EQ(text(read, "name"), "a");
  EXPECT_EQ(read.tree.find("seed")->place.file, "command line");
}

TEST_F(Layers, OverridesGoIntoListsAppendAndRemove) {
  const auto base =
      file("base.yaml",
           "metrics: [accuracy]\ntrain: {clip: {type: norm}}\n"
           "steps:\n  - {type: resize, size: 8}\n  - {type: normalize, preset: mnist}\n");
  const auto read = read_layers({base}, {"metrics+=[loss]", "~train.clip", "steps[0].size=96",
                                         "steps[normalize].preset=imagenet"});
  ASSERT_TRUE(read.problems.empty()) << render(read.problems);
  EXPECT_EQ(read.tree.find("metrics")->items.size(), 2U);
  EXPECT_EQ(text(read, "train", "clip"), "nothing");
  EXPECT_EQ(read.tree.find("steps")->items[0].find("size")->text, "96");
  EXPECT_EQ(read.tree.find("steps")->items[1].find("preset")->text, "imagenet");
}

TEST_F(Layers, WrongOverridesAreProblemsAtTheirWord) {
  const auto base = file("base.yaml", "metrics: [accuracy]\n");
  const auto read = read_layers({base}, {"seed", "~nothing", "metrics[7].k=1", "name+=x"});
  ASSERT_EQ(read.problems.size(), 4U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(read.problems[static_cast<std::size_t>(i)].place.file, "command line");
    EXPECT_EQ(read.problems[static_cast<std::size_t>(i)].place.line, i + 1);
  }
}

TEST_F(Layers, ACircleOfExtendsPrintsItsChain) {
  const auto a = file("a.yaml", "extends: [b.yaml]\n");
  const auto b = file("b.yaml", "extends: [a.yaml]\n");
  const auto read = read_layers({a}, {});
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_EQ(read.problems[0].rule, "extends-cycle");
  EXPECT_EQ(read.problems[0].message, a + " extends " + b + " extends " + a);
}

TEST_F(Layers, AMissingBaseIsAProblemWhereItIsNamed) {
  const auto top = file("top.yaml", "name: x\nextends: [nowhere.yaml]\n");
  const auto read = read_layers({top}, {});
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_EQ(read.problems[0].place.line, 2);
  EXPECT_EQ(read.problems[0].message,
            "cannot read '" + folder_ + "/nowhere.yaml': no such file or directory");
}

TEST_F(Layers, APipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  const auto top = file("top.yaml", "extends: [pipe, /dev/zero]\n");
  const auto read = read_layers({top}, {});
  ASSERT_EQ(read.problems.size(), 2U);
  EXPECT_EQ(read.problems[0].rule, "file");
  EXPECT_EQ(read.problems[0].place.column, 11);
  EXPECT_EQ(read.problems[0].message,
            "cannot read '" + folder_ + "/pipe': it is a pipe, not a regular file");
  EXPECT_EQ(read.problems[1].message,
            "cannot read '/dev/zero': it is a device, not a regular file");
}

TEST_F(Layers, EnvironmentAndOtherKeysAreReplaced) {
  ::setenv("DDPTRAIN_TEST_VALUE", "7", 1);
  ::unsetenv("DDPTRAIN_TEST_MISSING");
  const auto base =
      file("base.yaml",
           "seed: ${env:DDPTRAIN_TEST_VALUE}\nname: ${env:DDPTRAIN_TEST_MISSING:-run}-${seed}\n"
           "x-note: ignored\n");
  const auto read = read_layers({base}, {});
  EXPECT_TRUE(read.problems.empty());
  EXPECT_EQ(text(read, "seed"), "7");
  EXPECT_EQ(text(read, "name"), "run-7");
  EXPECT_EQ(read.tree.find("x-note"), nullptr);
}

TEST_F(Layers, MissingEnvironmentAndCirclesOfReferencesAreProblems) {
  ::unsetenv("DDPTRAIN_TEST_MISSING");
  const auto base = file("base.yaml", "seed: ${env:DDPTRAIN_TEST_MISSING}\nname: ${name}\n");
  const auto read = read_layers({base}, {});
  ASSERT_EQ(read.problems.size(), 2U);
  EXPECT_EQ(read.problems[0].place.line, 1);
  EXPECT_EQ(read.problems[1].message, "'${name}' refers to itself");
}

TEST_F(Layers, AFileWithoutAnEndIsTooLarge) {
  const auto read = read_layers({"/dev/zero"}, {});
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_EQ(read.problems[0].rule, "too-large");
}

TEST_F(Layers, ReferencesThatMultiplyAreRefused) {
  // Each key has ten times what the one before has: 10^12 values, 10^12 characters.
  std::string lists = "a0: [x]\n", texts = "a0: xxxxxxxxxx\n";
  for (int i = 1; i <= 12; ++i) {
    const auto key = "a" + std::to_string(i) + ": ";
    const auto last = "${a" + std::to_string(i - 1) + "}";
    lists += key + "[";
    texts += key;
    for (int k = 0; k < 10; ++k) {
      lists += (k > 0 ? ", '" : "'") + last + "'";
      texts += last;
    }
    lists += "]\n";
    texts += "\n";
  }
  for (const auto& recipe : {lists, texts}) {
    const auto read = read_layers({file("base.yaml", recipe)}, {});
    ASSERT_FALSE(read.problems.empty());
    EXPECT_EQ(read.problems[0].rule, "reference");
    EXPECT_EQ(read.problems[0].message,
              "the references of this recipe multiply to more than 1.0 MiB");
  }
}

TEST_F(Layers, ALongChainOfReferencesIsRefused) {
  std::string recipe;
  for (int i = 0; i < 100; ++i)
    recipe += "a" + std::to_string(i) + ": ['${a" + std::to_string(i + 1) + "}']\n";
  const auto read = read_layers({file("base.yaml", recipe + "a100: x\n")}, {});
  ASSERT_FALSE(read.problems.empty());
  EXPECT_EQ(read.problems[0].message, "'${a21}' stands behind 20 other references");
}

TEST_F(Layers, AVeryLongKeyIsAProblemAtItsWord) {
  std::string key = "a";
  for (int i = 0; i < 50'000; ++i) key += ".a";
  const auto read = read_layers({file("base.yaml", "name: x\n")}, {key + "=1"});
  ASSERT_EQ(read.problems.size(), 1U);
  EXPECT_THAT(read.problems[0].message,
              testing::HasSubstr("' is not a key; write 'optimizer.lr=0.1' or "
                                 "'data.transforms.train[0].size=96'"));
}

}  // namespace
}  // namespace ddptrain
