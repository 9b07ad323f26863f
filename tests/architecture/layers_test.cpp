// The rules that a compiler does not see: includes follow the table of src/README.md, the lower
// layers include no LibTorch header, a component is one file and one row.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "base/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path& source() {
  static const fs::path folder = test::in_source("src");
  return folder;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// A row is "| folder | what belongs there | base, config |".
std::map<std::string, Names> read_layers() {
  std::map<std::string, Names> layers;
  for (const auto& line : split(read_text(source() / "README.md"), '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() != 5 || cells[1].find("---") == 0 || trimmed(cells[1]) == "folder") continue;
    auto& allowed = layers[trimmed(cells[1])];
    for (const auto& name : split(cells[3], ','))
      if (!trimmed(name).empty()) allowed.insert(trimmed(name));
  }
  return layers;
}

/// What each folder may include beside itself: the table of src/README.md.
const std::map<std::string, Names>& may_include() {
  static const auto layers = read_layers();
  return layers;
}

struct Include {
  fs::path file;
  std::string name;
};

std::vector<Include> includes_of(const std::string& folder) {
  static const std::regex line("^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]");
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(source() / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    for (const auto& text : split(read_text(entry.path()), '\n'))
      if (std::smatch match; std::regex_search(text, match, line))
        found.push_back({entry.path(), match[1]});
  }
  return found;
}

Names folders() {
  Names found;
  for (const auto& entry : fs::directory_iterator(source()))
    if (entry.is_directory()) found.insert(entry.path().filename());
  return found;
}

TEST(Layers, EveryFolderIsInTheTable) {
  for (const auto& [folder, allowed] : may_include())
    EXPECT_TRUE(folders().contains(folder)) << "src/README.md lists " << folder;
  for (const auto& folder : folders())
    EXPECT_TRUE(may_include().contains(folder))
        << "src/" << folder << " is not in the table of src/README.md";
}

TEST(Layers, IncludesPointDown) {
  for (const auto& [folder, allowed] : may_include())
    for (const auto& include : includes_of(folder)) {
      const auto target = include.name.substr(0, include.name.find('/'));
      if (!may_include().contains(target) || include.name.find('/') == std::string::npos) continue;
      EXPECT_TRUE(target == folder || allowed.contains(target))
          << include.file << " includes " << include.name << ", which is not below it";
    }
}

TEST(Layers, TheLowerOnesIncludeNoLibTorch) {
  static const std::regex torch("^(torch|ATen|c10|caffe2)/");
  for (const std::string folder : {"base", "config", "recipe", "launch", "transforms", "text",
                                   "callbacks", "schedules", "cli", "checker"})
    for (const auto& include : includes_of(folder))
      EXPECT_FALSE(std::regex_search(include.name, torch))
          << include.file << " includes " << include.name;
}

TEST(Layers, NobodyIncludesAllOfLibTorch) {
  const Names heavy{"torch/torch.h", "torch/nn.h", "torch/all.h", "ATen/ATen.h"};
  for (const auto& [folder, unused] : may_include())
    for (const auto& include : includes_of(folder))
      EXPECT_FALSE(heavy.contains(include.name)) << include.file << " includes " << include.name;
}

TEST(Layers, OnlyTheReaderIncludesYamlCpp) {
  for (const auto& [folder, unused] : may_include())
    for (const auto& include : includes_of(folder))
      EXPECT_TRUE(!include.name.starts_with("yaml-cpp/") || include.file.filename() == "reader.cpp")
          << include.file;
}

/// Functions `Entry<Kind> name() {` of a folder's component files, with kind and file.
struct Component {
  std::string kind, function, stem;
};

std::vector<Component> components_of(const std::string& folder) {
  static const std::regex definition("Entry<(\\w+)> (\\w+)\\(\\) \\{");
  std::vector<Component> found;
  for (const auto& entry : fs::directory_iterator(source() / folder)) {
    if (entry.path().extension() != ".cpp") continue;
    const auto text = read_text(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), definition), end; match != end;
         ++match)
      found.push_back({(*match)[1], (*match)[2], entry.path().stem()});
  }
  return found;
}

std::string catalog_text(const std::string& folder) {
  std::string text;
  for (const auto& entry : fs::directory_iterator(source() / folder))
    if (entry.path().filename().string().ends_with("catalog.cpp")) text += read_text(entry.path());
  return text;
}

const std::vector<std::string>& component_folders() {
  static const std::vector<std::string> folders{"models",     "losses",    "metrics",
                                                "optim",      "schedules", "data",
                                                "transforms", "text",      "callbacks"};
  return folders;
}

TEST(Components, AreOneFileEach) {
  for (const auto& folder : component_folders()) {
    Names files;
    for (const auto& [kind, function, stem] : components_of(folder)) {
      EXPECT_TRUE(function == stem || function == stem + "_" + lower(kind))
          << "src/" << folder << "/" << stem << ".cpp exports " << function;
      EXPECT_TRUE(files.insert(stem).second) << stem << ".cpp holds two components";
    }
  }
}

TEST(Components, AreTheRowsOfTheirCatalogue) {
  static const std::regex row("\\b(\\w+)\\(\\)[,}\\s]");
  for (const auto& folder : component_folders()) {
    Names defined, listed;
    for (const auto& component : components_of(folder)) defined.insert(component.function);
    const auto text = catalog_text(folder);
    const std::regex rows("\\(\\s*\\{([^{}]*)\\}\\)");
    for (std::sregex_iterator list(text.begin(), text.end(), rows), end; list != end; ++list) {
      const std::string names = (*list)[1].str() + ",";
      for (std::sregex_iterator match(names.begin(), names.end(), row); match != end; ++match)
        listed.insert((*match)[1]);
    }
    EXPECT_FALSE(listed.empty()) << "no rows found in src/" << folder << "/*catalog.cpp";
    EXPECT_EQ(defined, listed) << "src/" << folder;
  }
}

}  // namespace
}  // namespace ddptrain
