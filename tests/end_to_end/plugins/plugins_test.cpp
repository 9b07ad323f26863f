// Components of plug-ins: checked, shown, trained and resumed like ours; refused where the file is
// not the one that was meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/digest.h"
#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

std::string test_plugin(const std::string& name) {
  return test::build_folder() + "/test_plugins/libplugin_" + name + ".so";
}

/// That the program was built with.
std::string libtorch() {
  const auto cache = read(test::build_folder() + "/CMakeCache.txt");
  const std::string key = "\nLIBTORCH:PATH=";
  const auto at = cache.find(key) + key.size();
  return cache.substr(at, cache.find('\n', at) - at);
}

const std::string kOurs = "ddptrain 0.1.0, LibTorch " + test::torch_version();

class Plugins : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({"data", "make", "table", "houses", "--rows", "200"}, folder_.path()).code, 0);
  }
  /// The houses with a loss of a plug-in.
  void write_recipe(const std::string& plugin, const std::string& loss) {
    write(folder_ / "recipe.yaml",
          "recipe: 1\nname: plugged\nplugins: [" + plugin +
              "]\nmodel: {type: tabular, layers: [8]}\n"
              "data: {type: csv_table, file: houses/houses.csv, target: price, "
              "task: regression, valid: {fraction: 0.2}}\n"
              "batch: {global: 20}\ntrain: {duration: 6 steps}\n"
              "checkpoint: {every: 3 steps}\nloss: " +
              loss + "\n");
  }
  void add_good() {
    fs::copy_file(test_plugin("good"), folder_ / "libmine.so",
                  fs::copy_options::overwrite_existing);
    ASSERT_EQ(run({"plugin", "shapes", "libmine.so"}, folder_.path()).code, 0);
  }
  std::string error_of(const std::vector<std::string>& words) {
    const auto ended = run(words, folder_.path());
    EXPECT_EQ(ended.code, 2) << ended.err;
    return ended.err;
  }
  const Folder folder_;
};

TEST_F(Plugins, HaveTheirOptionsCheckedAndShown) {
  add_good();
  write_recipe("libmine.so", "{type: scaled, factr: 3}");
  EXPECT_THAT(error_of({"validate", "recipe.yaml"}),
              HasSubstr("recipe.yaml:9:22: error[unknown-key]: loss: 'factr' is not an option of "
                        "'scaled'; did you mean 'factor'?"));
  write_recipe("libmine.so", "{type: scaled, factor: -1}");
  EXPECT_THAT(error_of({"validate", "recipe.yaml"}), HasSubstr("loss.factor: "));
  write_recipe("libmine.so", "scaled");
  EXPECT_EQ(run({"validate", "recipe.yaml"}, folder_.path()).out, "recipe.yaml: good\n");
  EXPECT_THAT(run({"describe", "loss", "scaled", "--plugin", "libmine.so"}, folder_.path()).out,
              HasSubstr("What it is multiplied by."));
  EXPECT_THAT(run({"list", "loss", "--plugin", "libmine.so"}, folder_.path()).out,
              HasSubstr("scaled"));
  EXPECT_THAT(run({"schema", "--plugin", "libmine.so"}, folder_.path()).out,
              HasSubstr("What it is multiplied by."));
}

// Twice the squared difference has twice the gradient: plain SGD with half the rate takes the same
// steps, bit for bit, since 2 is a power of two.
TEST_F(Plugins, TrainAsTheirMathematicsSays) {
  add_good();
  const auto weights = [&](const std::string& name) {
    return read(folder_ / "runs/" + name + "/001/checkpoints/step-00000006/model.safetensors");
  };
  write_recipe("libmine.so", "{type: scaled, factor: 2}");
  const std::vector<std::string> common{"run", "recipe.yaml", "schedule=constant", "-q"};
  auto words = common;
  words.insert(words.end(), {"name=double", "optimizer={type: sgd, lr: 0.00001, weight_decay: 0}"});
  ASSERT_EQ(run(words, folder_.path()).code, 0);
  write_recipe("libmine.so", "mse");
  words = common;
  words.insert(words.end(), {"name=single", "optimizer={type: sgd, lr: 0.00002, weight_decay: 0}"});
  ASSERT_EQ(run(words, folder_.path()).code, 0);
  EXPECT_EQ(weights("double"), weights("single"));
}

TEST_F(Plugins, ThatChangedAreRefusedWhenARunIsResumed) {
  add_good();
  write_recipe("libmine.so", "scaled");
  ASSERT_EQ(run({"run", "recipe.yaml"}, folder_.path()).code, 0);
  EXPECT_EQ(run({"resume", "runs/plugged/001", "train.duration=9 steps"}, folder_.path()).code, 0);
  EXPECT_THAT(read(folder_ / "runs/plugged/001/recipe.yaml"), HasSubstr("sha256: "));
  const auto file = fs::canonical(folder_ / "libmine.so").string();
  const auto before = digest_file(DigestKind::sha256, file);
  write(file, read(file) + "\n");
  EXPECT_THAT(error_of({"resume", "runs/plugged/001", "train.duration=12 steps"}),
              HasSubstr(": error[plugin]: plugins[0]: sha256 of '" + file + "' is " +
                        digest_file(DigestKind::sha256, file) + ", and the recipe wants " + before +
                        ": the file has changed since\n"));
}

TEST_F(Plugins, ThatDoNotFitAreNamedBeforeTheirCodeRuns) {
  const auto refusal = [&](const std::string& file) {
    write_recipe(file, "mse");
    const auto error = error_of({"run", "recipe.yaml"});
    EXPECT_THAT(error, Not(HasSubstr("code of the plug-in ran")));
    return error.substr(0, error.find('\n'));
  };
  const std::string at = "recipe.yaml:3:11: error[plugin]: plugins[0]: ";
  const auto file = [&](const std::string& name) {
    return fs::canonical(folder_.path()).string() + "/" + name;
  };
  EXPECT_EQ(refusal(test_plugin("other")),
            at + "'" + test_plugin("other") +
                "' was built for ddptrain 0.0.1, LibTorch 2.10.0, and this is " + kOurs +
                "; build it again");
  EXPECT_EQ(
      refusal(test_plugin("taken")),
      at + "there is a loss 'mse' already; a plug-in gives its components names of their own");
  write(folder_ / "text.so", "no library");
  EXPECT_EQ(refusal("text.so"),
            at + "'" + file("text.so") + "' is no plug-in; 'ddptrain plugin new' begins one");
  EXPECT_EQ(refusal("missing.so"),
            at + "cannot read '" + file("missing.so") + "': no such file or directory");
}

TEST_F(Plugins, AreCheckedByTheirShapesFile) {
  add_good();
  write_recipe("libmine.so", "scaled");
  const auto library = fs::canonical(folder_ / "libmine.so").string();
  const auto known = fs::canonical(folder_ / "libmine.json").string();
  const auto shapes = read(known);
  const auto refusal = [&](const std::string& file) {
    write_recipe(file, "scaled");
    const auto error = error_of({"validate", "recipe.yaml"});
    const std::string at = "recipe.yaml:3:11: error[plugin]: plugins[0]: ";
    EXPECT_THAT(error, testing::StartsWith(at));
    return error.substr(at.size(), error.find('\n') - at.size());
  };
  fs::remove(known);
  EXPECT_EQ(refusal("libmine.so"),
            "there is no '" + known +
                "', by which checks know a plug-in; 'ddptrain plugin shapes " + library +
                "' writes it");
  auto older = shapes;
  older.replace(older.find("0.1.0"), 5, "0.0.1");
  write(known, older);
  EXPECT_EQ(refusal("libmine.so"), "'" + known + "' was written for ddptrain 0.0.1, LibTorch " +
                                       test::torch_version() + ", and this is " + kOurs +
                                       "; build the plug-in again");
  write(known, "{\"plugin\": \"" + kOurs + "\", \"loss\": [");
  EXPECT_EQ(refusal("libmine.so"), "'" + known + "' is damaged; build the plug-in again");
  EXPECT_EQ(refusal("missing.so"),
            "there is no '" + fs::canonical(folder_.path()).string() + "/missing.so'");
}

TEST_F(Plugins, WithATraitThatDoesNotExistAreRefused) {
  fs::copy_file(test_plugin("trait"), folder_ / "libmine.so");
  const std::string refusal =
      "there is no trait 'takes_numbers', which the loss 'scaled' has; this kind has one_output, "
      "takes_class, takes_labels, takes_mask, takes_number, takes_points, takes_token, "
      "two_classes, weight_of_whole_batch\n";
  EXPECT_EQ(error_of({"plugin", "shapes", "libmine.so"}), "error: " + refusal);
  EXPECT_FALSE(exists(folder_ / "libmine.json"));
  write_recipe("libmine.so", "scaled");
  EXPECT_THAT(error_of({"run", "recipe.yaml"}),
              testing::StartsWith("recipe.yaml:3:11: error[plugin]: plugins[0]: " + refusal));
}

// What it would add is no mistake of the recipe.
TEST_F(Plugins, ThatAreMissingAreAllThatIsReported) {
  write_recipe("missing.so", "scaled");
  for (const auto* verb : {"validate", "run"})
    EXPECT_THAT(error_of({verb, "recipe.yaml"}),
                testing::AllOf(HasSubstr("plugins[0]: "), Not(HasSubstr("'scaled'"))));
}

/// The example of docs/plugins.md, by what `plugin new` writes.
TEST(NewPlugin, BuildsAndItsTestsPass) {
  const Folder folder;
  ASSERT_EQ(run({"plugin", "new", "mine"}, folder.path()).code, 0);
  const auto home = folder / "mine";
  const auto cmake = [&](const std::vector<std::string>& words) {
    const auto ended = Program(words, home, {}, "cmake").wait();
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  };
  cmake({"-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DLIBTORCH=" + libtorch()});
  cmake({"--build", "build", "-j", "2"});
  const auto tested =
      Program({"--test-dir", "build", "--output-on-failure"}, home, {}, "ctest").wait();
  EXPECT_EQ(tested.code, 0) << tested.out;
  EXPECT_THAT(tested.out, HasSubstr("100% tests passed, 0 tests failed out of 4"));
  EXPECT_EQ(run({"plugin", "new", "mine"}, folder.path()).err,
            "error: 'mine' is there already; name another folder\n");
  EXPECT_EQ(run({"plugin", "new", "My-Net"}, folder.path()).code, 2);
}

}  // namespace
}  // namespace ddptrain::end_to_end
