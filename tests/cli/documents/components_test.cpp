// The program, which knows components from a text, prints what the engine prints, which has their
// classes: both are run here in one process.
#include "cli/documents/components.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files/files.h"
#include "cli/cli_output.h"
#include "jobs/engine.h"
#include "program/program.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::string committed() { return read_text(test::in_source("schemas/components.json")); }

TEST(Components, OfTheRepositoryAreThoseThatTheProgramWrites) {
  EXPECT_TRUE(committed() == components_text(engine_program()))
      << "out of date; repair: make generate";
}

/// What a program prints, and its exit code.
std::string cli_output(const Program& program, const std::vector<std::string>& words) {
  const auto answer = test::cli_output(words, program);
  return answer.out + answer.err + "exit " + std::to_string(answer.code);
}

void expect_same(const std::vector<std::string>& words) {
  EXPECT_EQ(cli_output(main_program(), words), cli_output(engine_program(), words)) << words.back();
}

TEST(MainProgram, PrintsTheSameCatalog) {
  expect_same({"help"});
  expect_same({"list"});
  expect_same({"schema"});
  for (const auto& [kind, catalog] : *engine_program().catalogs)
    for (const auto& name : catalog->names()) expect_same({"describe", kind, name});
}

TEST(MainProgram, ReadsRecipesTheSame) {
  std::vector<std::string> files;
  for (const std::string folder : {"recipes", "configs", "tests/recipes"})
    for (const auto& entry : fs::recursive_directory_iterator(test::in_source(folder)))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  ASSERT_GT(files.size(), 30U);
  for (const auto& file : files) {
    expect_same({"validate", file});
    expect_same({"show", file});
    expect_same({"show", "--full", file});
    expect_same({"show", "--minimal", file});
    expect_same({"show", "--why", "optimizer.lr", file});
    expect_same({"diff", "--full", files.front(), file});
  }
}

constexpr int kEngine = 77;

TEST(MainProgram, HandsWhatNeedsDataToTheEngine) {
  auto program = main_program();
  static std::string asked;
  program.in_engine = [](const Arguments&, const std::string& what) {
    return asked = what, kEngine;
  };
  const auto code = [&](const std::vector<std::string>& words) {
    return test::cli_output(words, program).code;
  };
  const auto needs_engine = [&](const std::vector<std::string>& words) {
    EXPECT_EQ(code(words), kEngine);
    return std::exchange(asked, {});
  };
  const auto houses = test::in_source("recipes/houses.yaml");
  EXPECT_EQ(needs_engine({"init", "./here.csv"}), "'init' for data");
  EXPECT_EQ(code({"init", "houses", "-"}), 0);
  EXPECT_EQ(needs_engine({"validate", "--level", "data", houses}), "'validate --level data'");
  EXPECT_EQ(code({"validate", "--level", "rules", houses}), 0);
  EXPECT_EQ(needs_engine({"plan", houses}), "'plan' without --samples N");
  EXPECT_EQ(code({"plan", "--samples", "100", houses}), 0);
  EXPECT_EQ(needs_engine({"weights", "get", "resnet18"}), "'weights get'");
  EXPECT_EQ(needs_engine({"plugin", "shapes", "libmine.so"}), "'plugin shapes'");
  EXPECT_EQ(needs_engine({"schema", "--components"}), "'schema --components'");
  EXPECT_EQ(code({"weights", "list", "resnet18"}), 0);
}

TEST(MainProgram, HelpsWithTheSameWords) {
  for (const auto& verb : engine_program().verbs) expect_same({std::string(verb.name), "--help"});
}

}  // namespace
}  // namespace ddptrain
