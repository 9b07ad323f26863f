// What a recipe takes from a secret of the environment is in no message, whatever fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSecret = "hunter2-hunter2";

std::string recipe_with(const std::string& data) {
  return "model: {type: mnist_net, num_classes: auto}\ndata:\n  type: image_folder\n" + data +
         "batch: {global: 2}\ntrain: {duration: 1 steps}\nloss: cross_entropy\n"
         "optimizer: {type: sgd, lr: 0.1}\n";
}

/// Ends with exit code 3, without the secret in what it says or leaves behind.
std::string failure_of(const std::vector<std::string>& words, const Folder& folder) {
  const auto ended = run(words, folder.path(), {{"DDPTRAIN_TEST_TOKEN", kSecret}});
  EXPECT_EQ(ended.code, 3) << ended.err;
  const auto all = ended.out + ended.err;
  EXPECT_THAT(all, Not(HasSubstr("hunter2")));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file() && entry.path().extension() != ".yaml") {
      EXPECT_THAT(read(entry.path()), Not(HasSubstr("hunter2"))) << entry.path();
    }
  return all;
}

TEST(Secrets, AnErrorQuotesTheReference) {
  const Folder folder;
  write(folder / "a.yaml", recipe_with("  root: /nowhere/${env:DDPTRAIN_TEST_TOKEN}\n"));
  const std::string expected = "data.root: '/nowhere/${env:DDPTRAIN_TEST_TOKEN}";
  EXPECT_THAT(failure_of({"run", "a.yaml"}, folder), HasSubstr(expected));
  EXPECT_THAT(failure_of({"data", "check", "a.yaml"}, folder), HasSubstr(expected));
  for (const auto* form : {"text", "json", "github", "sarif"})
    EXPECT_THAT(failure_of({"validate", "a.yaml", "--level", "data", "--format", form}, folder),
                HasSubstr("${env:DDPTRAIN_TEST_TOKEN}"));
}

TEST(Secrets, AnAddressThatFailsLosesItsPassword) {
  const Folder folder;
  const std::string rest = "@localhost:1/a.tgz', md5: e793b78cc4c9e9a4ccc0c1155377a412}\n";
  const std::string source = "  root: data\n  source: {url: 'https://me:";
  write(folder / "a.yaml", recipe_with(source + "${env:DDPTRAIN_TEST_TOKEN}" + rest));
  write(folder / "b.yaml", recipe_with(source + "hunter2/hunter2" + rest));
  for (const auto* file : {"a.yaml", "b.yaml"})
    EXPECT_THAT(failure_of({"data", "get", file}, folder),
                HasSubstr("cannot fetch 'https://localhost:1/a.tgz'"));
}

TEST(Secrets, TheLineOfAProblemLosesAPassword) {
  const Folder folder;
  write(folder / "a.yaml", recipe_with("  root: data\n  source: {url: 'http://me:hunter2@h/a.tgz', "
                                       "md5: e793b78cc4c9e9a4ccc0c1155377a412}\n"));
  const auto ended = run({"validate", "a.yaml"}, folder.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.out + ended.err, HasSubstr("source: {url: 'http://**********@h/a.tgz'"));
}

bool owner_alone_reads(const std::string& path) {
  using std::filesystem::perms;
  return (std::filesystem::status(path).permissions() & perms::mask) ==
         (perms::owner_read | perms::owner_write);
}

TEST(Secrets, WrittenInARecipeAreWarnedOfAndReadByTheOwnerAlone) {
  const Folder folder;
  const std::string url = "https://me:hunter2@localhost/a.tgz";
  write(folder / "a.yaml", small_recipe("x-notes: {api_token: abc, tokens: 3}\n"));
  const std::vector<std::string> words{
      "run",
      "a.yaml",
      kSmallModel,
      "train.threads=1",
      "train.duration=1 step",
      "data.source={url: '" + url + "', md5: e793b78cc4c9e9a4ccc0c1155377a412}"};
  const auto ended = run(words, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("warning[literal-secret]: data.source.url: the password of this "
                                   "address is readable"));
  EXPECT_THAT(ended.err, HasSubstr("x-notes.api_token: this secret is readable"));
  EXPECT_THAT(ended.err, Not(HasSubstr("x-notes.tokens")));
  EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("hunter2")));
  const auto home = folder / "runs/small/001/";
  EXPECT_THAT(read(home + "recipe.yaml"), HasSubstr(url));
  for (const auto* file : {"recipe.yaml", "source/a.yaml", "source/command.sh"})
    EXPECT_TRUE(owner_alone_reads(home + file)) << file;
  EXPECT_THAT(read(home + "run.json"), Not(HasSubstr("hunter2")));
  const auto more = run({"resume", home, "train.duration=2 steps"}, folder.path());
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_TRUE(owner_alone_reads(home + "recipe.yaml"));
}

TEST(Secrets, OfTheEnvironmentAreNotWarnedOf) {
  const Folder folder;
  write(folder / "a.yaml", small_recipe("x-notes: {api_token: '${env:DDPTRAIN_TEST_TOKEN}'}\n"));
  const auto ended =
      run({"validate", "a.yaml",
           "data.source={url: 'https://me:${env:DDPTRAIN_TEST_TOKEN}@localhost/a.tgz'"
           ", md5: e793b78cc4c9e9a4ccc0c1155377a412}"},
          folder.path(), {{"DDPTRAIN_TEST_TOKEN", kSecret}, {"SHAPES", shapes()}});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("literal-secret")));
}

TEST(Secrets, TheErrorColumnOfAPredictionQuotesTheReference) {
  const Folder folder;
  const auto data = folder / kSecret;
  std::filesystem::copy(shapes(), data, std::filesystem::copy_options::recursive);
  write(folder / "a.yaml", small_recipe());
  const std::map<std::string, std::string> secret{{"DDPTRAIN_TEST_TOKEN", kSecret},
                                                  {"SHAPES", shapes()}};
  const auto trained =
      run({"run", "a.yaml", kSmallModel, "train.threads=1", "train.duration=1 step",
           "data.root=" + folder / "${env:DDPTRAIN_TEST_TOKEN}"},
          folder.path(), secret);
  ASSERT_EQ(trained.code, 0) << trained.err;
  write(data + "/bad.png", "this is no image");
  const auto sound = data + "/val/circle/" + list(data + "/val/circle")[0];
  const auto ended =
      run({"predict", "runs/small/001", sound, data + "/bad.png"}, folder.path(), secret);
  EXPECT_EQ(ended.code, 3) << ended.err;
  ASSERT_THAT(ended.out, HasSubstr(",")) << ended.err;
  EXPECT_THAT(ended.out.substr(ended.out.rfind(",")), Not(HasSubstr("hunter2")));
  EXPECT_THAT(ended.out, HasSubstr("${env:DDPTRAIN_TEST_TOKEN}"));
}

TEST(Secrets, ADifferenceOfRecipesQuotesTheReference) {
  const Folder folder;
  write(folder / "a.yaml", recipe_with("  root: /data/${env:DDPTRAIN_TEST_TOKEN}\n"));
  write(folder / "b.yaml", recipe_with("  root: /data/b\n"));
  const auto ended =
      run({"diff", "a.yaml", "b.yaml"}, folder.path(), {{"DDPTRAIN_TEST_TOKEN", kSecret}});
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("/data/${env:DDPTRAIN_TEST_TOKEN}"));
  EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace ddptrain::end_to_end
