// The program without LibTorch prints what the full one prints: both are run here in one process.
#include "cli/documents/components.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files/files.h"
#include "cli/cli_output.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::string committed() { return read_text(test::in_source("schemas/components.json")); }

TEST(Components, OfTheRepositoryAreThoseThatTheProgramWrites) {
  EXPECT_TRUE(committed() == components_text(this_program()))
      << "out of date; repair: make generate";
}

/// What a program prints, and its exit code.
std::string cli_output(const Program& program, const std::vector<std::string>& words) {
  const auto answer = test::cli_output(words, program);
  return answer.out + answer.err + "exit " + std::to_string(answer.code);
}

class WithoutLibTorch : public testing::Test {
 protected:
  WithoutLibTorch() : components_(text_), program_{&components_.catalogs(), components_.verbs()} {
    const auto reading = reading_verbs();
    for (auto& verb : program_.verbs)
      for (const auto& own : reading)
        if (own.name == verb.name) verb.run = own.run;
  }
  void expect_same(const std::vector<std::string>& words) {
    EXPECT_EQ(cli_output(program_, words), cli_output(this_program(), words)) << words.back();
  }

  std::string text_ = committed();
  Components components_;
  Program program_;
};

TEST_F(WithoutLibTorch, PrintsTheSameCatalog) {
  expect_same({"help"});
  expect_same({"list"});
  expect_same({"schema"});
  expect_same({"schema", "--components"});
  for (const auto& [kind, catalog] : *this_program().catalogs)
    for (const auto& name : catalog->names()) expect_same({"describe", kind, name});
}

TEST_F(WithoutLibTorch, ReadsRecipesTheSame) {
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

TEST_F(WithoutLibTorch, SaysThatItDoesNotLookAtData) {
  const auto answer = test::cli_output({"init", "./here.csv"}, program_);
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err,
              testing::HasSubstr("error: looking at './here.csv' needs the full program; this one "
                                 "was built without LibTorch and only reads recipes\n"));
  EXPECT_EQ(test::cli_output({"init", "houses", "-"}, program_).code, 0);
}

TEST_F(WithoutLibTorch, HelpsWithTheSameWords) {
  for (const auto& verb : this_program().verbs) expect_same({std::string(verb.name), "--help"});
}

}  // namespace
}  // namespace ddptrain
