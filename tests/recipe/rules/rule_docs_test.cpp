#include "recipe/rules/rule_docs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "base/files/files.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Ids = std::set<std::string>;

TEST(RuleDocs, AreSentencesUnderIdsOfTheirOwn) {
  static const std::regex id("[a-z][a-z0-9]*(-[a-z0-9]+)*");
  Ids ids;
  for (const auto* rule : all_rule_docs()) {
    const std::string name(rule->id);
    EXPECT_TRUE(std::regex_match(name, id)) << name;
    EXPECT_TRUE(ids.insert(name).second) << name << " is there twice";
    EXPECT_TRUE(rule->summary.ends_with('.')) << name;
    EXPECT_TRUE(rule->why.ends_with('.')) << name;
    EXPECT_EQ(rule->wrong.empty(), rule->right.empty()) << name;
    EXPECT_EQ(find_rule_doc(name), rule);
  }
  EXPECT_EQ(find_rule_doc("no-such-rule"), nullptr);
}

/// The ids in a source file where it makes problems: `Severity::error, "tab"`, `report("tab",
/// ...)`, `Finding{i, "tab", ...}`, `return {"tab", ...}`, `refuse_at(at, "...", "tab");`.
void collect(const std::string& text, Ids& ids) {
  static const std::regex first(
      "(?:Severity::\\w+,|\\b(?:report|problem|refuse)\\((?:[^\";]*,)?|Finding\\{[^\",]*,|return "
      "\\{)\\s*\"([a-z]+(?:-[a-z]+)*)\"\\s*,");
  static const std::regex last("\",\\s*\"([a-z]+(?:-[a-z]+)*)\"\\);");
  const auto insert_matches = [&](const std::regex& made) {
    for (std::sregex_iterator match(text.begin(), text.end(), made), end; match != end; ++match)
      ids.insert((*match)[1]);
  };
  insert_matches(first);
  if (text.find("refuse_at") != std::string::npos) insert_matches(last);
}

// The rules between parts have tables and tests of their own.
bool is_between_parts(const fs::path& file) {
  return file.filename().string().starts_with("rule") || file.parent_path().filename() == "rules";
}

TEST(RuleDocs, AreThereForEveryIdThatReadingReports) {
  Ids made, documented;
  for (const std::string folder : {"src/config", "src/recipe"})
    for (const auto& entry : fs::recursive_directory_iterator(test::in_source(folder))) {
      if (entry.path().extension() != ".cpp" || is_between_parts(entry.path())) continue;
      const auto text = read_text(entry.path());
      static const std::regex makes_problems("[Pp]roblem|Finding|KeyAdvice|refuse_at");
      if (std::regex_search(text, makes_problems)) collect(text, made);
    }
  for (const auto& rule : reading_rules()) documented.emplace(rule.id);
  EXPECT_EQ(made, documented)
      << "src/recipe/rules/reading_rules.cpp documents what reading reports";
}

}  // namespace
}  // namespace ddptrain
