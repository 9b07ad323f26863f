#include "recipe/record.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "config/decode.h"
#include "config/reader.h"
#include "recipe/catalogs.h"
#include "recipe/references.h"

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
  EXPECT_NE(line_with(text, "micro:").find("micro: 16"), std::string::npos);
  EXPECT_NE(line_with(text, "micro:").find("# micro: auto"), std::string::npos);
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
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_EQ(line_with(text, "name:"), "name: \"a-${env:DDPTRAIN_TEST_TOKEN}\"");
  EXPECT_EQ(line_with(text, "dir:"), "output: {dir: here}");
}

}  // namespace
}  // namespace ddptrain
