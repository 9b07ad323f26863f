// Who reads or writes a file of a run folder asks runs/ for it: its name stands in one place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "base/files/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

/// Texts in quotes, without comments.
std::string quoted_texts(const std::string& code) {
  static const std::regex text("\"(\\\\.|[^\"\\\\])*\"");
  std::string all;
  for (const auto& line : split(code, '\n')) {
    if (trim(line).starts_with("//") || trim(line).starts_with("#include")) continue;
    for (std::sregex_iterator match(line.begin(), line.end(), text), end; match != end; ++match) {
      const auto before = line.substr(0, static_cast<std::size_t>(match->position()));
      if (before.find("  // ") == std::string::npos) all += match->str() + "\n";
    }
  }
  return all;
}

TEST(QuotedTexts, AreThoseOfTheCode) {
  EXPECT_EQ(quoted_texts("// \"a\"\n#include \"b\"\nf(\"c\\\"d\", \"e\");  // \"f\"\n"),
            "\"c\\\"d\"\n\"e\"\n");
}

/// The files of src/ whose texts name a file.
std::set<std::string> files_that_spell(const std::string& name) {
  static const auto texts = [] {
    std::map<std::string, std::string> all;
    const fs::path source = test::in_source("src");
    for (const auto& entry : fs::recursive_directory_iterator(source))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
        all[fs::relative(entry.path(), source)] = quoted_texts(read_text(entry.path()));
    return all;
  }();
  const std::regex whole("(^|[^\\w.])" + std::regex_replace(name, std::regex("\\."), "\\.") +
                         "([^\\w]|$)");
  std::set<std::string> found;
  for (const auto& [file, text] : texts)
    if (std::regex_search(text, whole)) found.insert(file);
  return found;
}

TEST(RunFiles, AreNamedInOnePlaceEach) {
  EXPECT_THAT(files_that_spell("run.json"), ElementsAre("recipe/run_folders.h"));
  EXPECT_THAT(files_that_spell("state.json"), ElementsAre("runs/state_json.h"));
  EXPECT_THAT(files_that_spell("events.jsonl"), ElementsAre("runs/events_jsonl.h"));
  EXPECT_THAT(files_that_spell("metrics.csv"), ElementsAre("runs/metrics_csv.h"));
  EXPECT_THAT(files_that_spell("data.json"), ElementsAre("runs/data_json.h"));
  EXPECT_THAT(files_that_spell("samples.json"), ElementsAre("runs/samples_json.h"));
  EXPECT_THAT(files_that_spell("transfer.json"), ElementsAre("runs/transfer.h"));
  // An example of a mistake extends itself under this name.
  EXPECT_THAT(files_that_spell("recipe.yaml"),
              ElementsAre("recipe/rules/reading_rules.cpp", "recipe/run_folders.h"));
}

}  // namespace
}  // namespace ddptrain
