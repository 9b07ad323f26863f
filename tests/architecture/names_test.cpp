// One name, one thing: types of the namespace over all headers, and names in unnamed namespaces
// over a folder, whose files are compiled several at once. One thing, one name: no function calls
// another one alone, and a file uses the short names that it declares.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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

/// What a namespace declares in a header, a declaration in a line, with the namespace's name.
struct Declared {
  std::string space;
  std::string text;
};

// clang-format puts it at the beginning of a line, and indents what is in it.
std::vector<Declared> declarations(const fs::path& header) {
  std::vector<Declared> all;
  std::string space;
  bool open = false;
  for (const auto& line : split(read_text(header), '\n')) {
    if (line.starts_with("namespace ")) space = line.substr(10, line.find(" {") - 10);
    const bool begins = !line.empty() && std::isalpha(static_cast<unsigned char>(line[0]));
    if (begins)
      all.push_back({space, line});
    else if (open)
      all.back().text += line.substr(std::min(line.find_first_not_of(' '), line.size()));
    open = (begins || open) && line.find_first_of(";{}") == std::string::npos;
  }
  return all;
}

std::vector<fs::path> headers_of(const std::string& top) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(test::in_source(top)))
    if (entry.path().extension() == ".h") files.push_back(entry.path());
  return files;
}

/// "(const Text&, int)" of "const Text& text, int count = 1".
std::string types_of(const std::string& parameters) {
  std::string types = "(";
  std::istringstream stream(parameters);
  for (std::string one; std::getline(stream, one, ',');) {
    one = one.substr(0, one.find(" = "));
    const auto type = one.substr(0, one.find_last_of(" &*") + 1);
    types += (type.find_first_not_of(' ') == std::string::npos ? one : type) + ",";
  }
  return types + ")";
}

/// Types by their names, functions by their names and parameters' types, over all headers. The
/// programs of tests/cuda_stand_in and tests/fuzz are linked without the others.
Homes homes_in_headers(const std::regex& what) {
  Homes homes;
  for (const std::string top : {"src", "tests"})
    for (const auto& file : headers_of(top)) {
      const auto shown = fs::relative(file, test::in_source("")).string();
      if (shown.starts_with("tests/cuda_stand_in/") || shown.starts_with("tests/fuzz/")) continue;
      for (const auto& [space, text] : declarations(file)) {
        std::smatch match;
        if (!std::regex_match(text, match, what)) continue;
        auto name = space + "::" + match[1].str();
        if (match.size() > 2) name += types_of(match[2]);
        homes[name].insert(shown);
      }
    }
  return homes;
}

TEST(Names, OfTypesInHeadersAreUnique) {
  Homes homes;
  for (const auto& file : headers_of("src"))
    for (const auto& line : split(read_text(file), '\n')) {
      std::smatch match;
      if (std::regex_match(line, match, type_definition()) && line.back() != ';')
        homes[match[1]].insert(fs::relative(file, test::in_source("src")));
    }
  EXPECT_GT(homes.size(), 300u);
  expect_one_home(homes);
}

// Those of tests too, and types of one line.
TEST(Names, OfTypesInANamespaceAreUnique) {
  const auto homes = homes_in_headers(type_definition());
  EXPECT_GT(homes.size(), 700u);
  expect_one_home(homes);
}

// Of an inline function and another one with the same parameters the linker takes either.
TEST(Names, OfFunctionsInHeadersAreUnique) {
  static const std::regex function(
      "^[\\w:<>,*& \\[\\]]*?[ *&](\\w+)\\(([^()]*)\\)(?: noexcept)?(?:;| \\{.*)$");
  const auto homes = homes_in_headers(function);
  EXPECT_GT(homes.size(), 1000u);
  expect_one_home(homes);
}

std::vector<fs::path> sources_of(const std::string& top) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(test::in_source(top)))
    if (entry.path().extension() == ".cpp") files.push_back(entry.path());
  return files;
}

/// How often a word is in a text, comments left out.
int count_word(const std::string& text, const std::string& word) {
  int count = 0;
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (auto line : split(text, '\n')) {
    line = line.substr(0, line.find("//"));
    for (auto at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
      const auto end = at + word.size();
      const bool begins = at == 0 || !is_part(line[at - 1]);
      count += begins && (end == line.size() || !is_part(line[end])) ? 1 : 0;
    }
  }
  return count;
}

TEST(Names, OfUsingDeclarationsAreUsed) {
  static const std::regex declaration(
      "^(?:using (?:[\\w:]+::)?(\\w+)(?: = [^;]*)?;|namespace (\\w+) = .*;)$");
  int found = 0;
  for (const std::string top : {"src", "tests"})
    for (const auto& file : sources_of(top)) {
      const auto text = read_text(file);
      for (const auto& line : split(text, '\n')) {
        std::smatch match;
        if (!line.starts_with("using ") && !line.starts_with("namespace ")) continue;
        if (!std::regex_match(line, match, declaration)) continue;
        const auto name = match[1].matched ? match[1].str() : match[2].str();
        EXPECT_GT(count_word(text, name), 1) << file << ": " << line;
        ++found;
      }
    }
  EXPECT_GT(found, 500);
}

/// The name of a function whose line only calls another one with its own parameter, and that name:
/// "bool rows_take(const at::Tensor& rows) { return sums_take(rows); }".
std::string call_alone(const std::string& line) {
  static const std::regex alone(
      "^[\\w:<>,*& ]+?[ *&](\\w+)\\([\\w:<>,*& ]+?[ *&](\\w+)\\) \\{ return (\\w+)\\((\\w+)\\); "
      "\\}$");
  std::smatch match;
  if (line.empty() || !std::isalpha(static_cast<unsigned char>(line[0]))) return {};
  if (!std::regex_match(line, match, alone) || match[2] != match[4]) return {};
  return match[1].str() + " is " + match[3].str();
}

TEST(Names, OfFunctionsAreNotTwoOfOne) {
  EXPECT_EQ(call_alone("bool rows_take(const at::Tensor& rows) { return sums_take(rows); }"),
            "rows_take is sums_take");
  for (const auto& file : sources_of("src"))
    for (const auto& line : split(read_text(file), '\n'))
      EXPECT_EQ(call_alone(line), "") << file << ": " << line;
}

}  // namespace
}  // namespace ddptrain
