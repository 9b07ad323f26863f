// One name, one thing: types of the namespace over all headers, and names in unnamed namespaces
// over a folder, whose files are compiled several at once.
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
using Files = std::set<std::string>;
using Homes = std::map<std::string, Files>;

bool is_closing(const std::string& line) { return line.starts_with("}  // namespace"); }

const std::regex& type_definition() {
  static const std::regex line("^(?:struct|class|enum class|enum) (\\w+)[^;(]*(?:\\{.*)?$");
  return line;
}

const std::regex& constant_definition() {
  static const std::regex line(
      "^(?:static |inline )?(?:constexpr|const) [\\w:<>,*& ]*?(\\w+)(?:\\[\\w*\\])? ?[={].*");
  return line;
}

// clang-format puts what a namespace declares at the beginning of a line.
void add_unnamed(const fs::path& file, const std::string& shown, Homes& homes) {
  bool inside = false;
  for (const auto& line : split(read_text(file), '\n')) {
    if (line == "namespace {") inside = true;
    if (is_closing(line)) inside = false;
    std::smatch match;
    if (inside && (std::regex_match(line, match, type_definition()) ||
                   std::regex_match(line, match, constant_definition())))
      homes[match[1]].insert(shown);
  }
}

void expect_one_home(const Homes& homes) {
  for (const auto& [name, files] : homes) {
    std::string list;
    for (const auto& file : files) list += " " + file;
    EXPECT_EQ(files.size(), 1u) << name << " is in" << list;
  }
}

Homes unnamed_names(const fs::path& folder) {
  Homes homes;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".cpp")
      add_unnamed(entry.path(), fs::relative(entry.path(), folder), homes);
  return homes;
}

TEST(Names, InUnnamedNamespacesAreUniqueInTheirFolder) {
  for (const std::string top : {"src", "tests"})
    for (const auto& entry : fs::directory_iterator(test::in_source(top)))
      // Programs of their own, not compiled together.
      if (entry.is_directory() && entry.path().filename() != "fuzz")
        expect_one_home(unnamed_names(entry.path()));
}

TEST(Names, OfTypesInHeadersAreUnique) {
  Homes homes;
  for (const auto& entry : fs::recursive_directory_iterator(test::in_source("src"))) {
    if (entry.path().extension() != ".h") continue;
    for (const auto& line : split(read_text(entry.path()), '\n')) {
      std::smatch match;
      if (std::regex_match(line, match, type_definition()) && line.back() != ';')
        homes[match[1]].insert(fs::relative(entry.path(), test::in_source("src")));
    }
  }
  EXPECT_GT(homes.size(), 300u);
  expect_one_home(homes);
}

}  // namespace
}  // namespace ddptrain
