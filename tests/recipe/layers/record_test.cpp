#include "recipe/layers/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "config/decode.h"
#include "config/encode.h"
#include "config/yaml/reader.h"
#include "recipe/catalogs.h"
#include "recipe/layers/references.h"

namespace ddptrain {
namespace {

std::string line_with(const std::string& text, const std::string& key) {
  const auto at = text.find(key);
  if (at == std::string::npos) return "none";
  const auto first = text.rfind('\n', at) + 1;
  return text.substr(first, text.find('\n', at) - first);
}

TEST(Record, SaysWhatWasAutomatic) {
  Recipe asked, resolved;
  resolved.batch.micro = Auto<std::int64_t>(16);
  resolved.train.threads = Auto<std::int64_t>(2);
  const auto text = record_of(resolved, asked, Node::map(), testing_recipes::catalogs());
  EXPECT_EQ(line_with(text, "threads:"), "  threads: 2  # auto");
  EXPECT_THAT(line_with(text, "micro:"),
              testing::HasSubstr("micro: 16, accumulate: auto}  # micro: auto"));
}

TEST(Record, KeepsSecretsOutOfTheText) {
  ::setenv("DDPTRAIN_TEST_TOKEN", "hunter2", 1);
  ::setenv("DDPTRAIN_TEST_PLACE", "here", 1);
  auto tree =
      read_yaml("name: a-${env:DDPTRAIN_TEST_TOKEN}\noutput: {dir: '${env:DDPTRAIN_TEST_PLACE}'}",
                "r.yaml")
          .tree;
  Problems problems;
  replace_references(tree, problems);
  ASSERT_TRUE(problems.empty());
  Recipe recipe;
  recipe.name = tree.find("name")->text;
  recipe.output.dir = tree.find("output")->find("dir")->text;
  EXPECT_EQ(recipe.name, "a-hunter2");
  const auto text = record_of(recipe, recipe, tree, testing_recipes::catalogs());
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("hunter2")));
  EXPECT_EQ(line_with(text, "name:"), "name: \"a-${env:DDPTRAIN_TEST_TOKEN}\"");
  EXPECT_EQ(line_with(text, "dir:"), "output: {dir: here, report: true}");
}

TEST(Record, TakesANameOfASecretInAnyCase) {
  for (const std::string name : {"MY_PASSWORD", "db_passwd", "Pass", "client_secret", "hfToken",
                                 "AWS_ACCESS_KEY_ID", "GOOGLE_CREDENTIALS"}) {
    ::setenv(name.c_str(), "hunter2", 1);
    auto tree = read_yaml("name: 'a-${env:" + name + "}'\n", "r.yaml").tree;
    Problems problems;
    replace_references(tree, problems);
    Recipe recipe;
    recipe.name = tree.find("name")->text;
    EXPECT_EQ(recipe.name, "a-hunter2");
    const auto text = record_of(recipe, recipe, tree, testing_recipes::catalogs());
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("hunter2"))) << name;
    hide_secrets(tree);
    EXPECT_EQ(tree.find("name")->text, "a-${env:" + name + "}");
  }
}

/// A recipe whose archive is fetched from an address that an innocent variable names.
Node with_address() {
  ::setenv("DDPTRAIN_TEST_MIRROR", "https://user:hunter2@example.org", 1);
  auto tree = read_yaml(
                  "name: ${data.source.url}\nmodel: mlp\nbatch: {global: 8}\n"
                  "data:\n  type: image_folder\n  root: pictures\n"
                  "  source: {url: '${env:DDPTRAIN_TEST_MIRROR}/a.tgz', md5: x}\n"
                  "output: {dir: 'runs of ${data.source.url}'}\n",
                  "r.yaml")
                  .tree;
  Problems problems;
  replace_references(tree, problems);
  EXPECT_TRUE(problems.empty());
  return tree;
}

TEST(Record, KeepsTheWholeAddressOfASourceAndWhatRefersToIt) {
  const auto tree = with_address();
  auto recipe = decode<Recipe>(tree);
  EXPECT_EQ(recipe.name, "https://user:hunter2@example.org/a.tgz");
  const auto text = record_of(recipe, recipe, tree, testing_recipes::catalogs());
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("hunter2")));
  EXPECT_THAT(text, testing::HasSubstr("${env:DDPTRAIN_TEST_MIRROR}/a.tgz"));
  auto shown = tree;
  hide_secrets(shown);
  EXPECT_THAT(to_yaml(shown), testing::Not(testing::HasSubstr("hunter2")));
}

TEST(Record, ProblemsQuoteTheReference) {
  const auto tree = with_address();
  const std::string address = "https://user:hunter2@example.org";
  Problems problems{{Severity::error, "bad-value", {}, "name", "'" + address + "/a.tgz' is wrong"},
                    {Severity::error, "bad-value", {}, "name", "no host at " + address + ":80"}};
  hide_secrets(problems, tree);
  EXPECT_THAT(problems[0].message, testing::Not(testing::HasSubstr("hunter2")));
  EXPECT_EQ(problems[1].message, "no host at ${env:DDPTRAIN_TEST_MIRROR}:80");
}

}  // namespace
}  // namespace ddptrain
