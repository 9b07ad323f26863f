// What a recipe takes from a secret of the environment is in no message, whatever fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "program.h"

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
  const std::string said = "data.root: '/nowhere/${env:DDPTRAIN_TEST_TOKEN}";
  EXPECT_THAT(failure_of({"run", "a.yaml"}, folder), HasSubstr(said));
  EXPECT_THAT(failure_of({"data", "check", "a.yaml"}, folder), HasSubstr(said));
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
