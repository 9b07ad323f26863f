// The house rules that a compiler does not see: includes point down, floors 0 and 1 know no torch,
// a component is one file and one row.
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

/// What each folder may include beside itself (docs/architecture.md, section 2).
const std::map<std::string, Names>& may_include() {
  const Names ground{"base", "config", "recipe", "launch"};
  const auto with = [&](Names more) {
    more.insert(ground.begin(), ground.end());
    return more;
  };
  const Names tensors{"transforms", "text",        "data",       "models",    "losses",   "metrics",
                      "optim",      "distributed", "checkpoint", "callbacks", "schedules"};
  auto all = with(tensors);
  all.insert({"train", "cli"});
  static const std::map<std::string, Names> floors{
      {"base", {}},
      {"config", {"base"}},
      {"launch", {"base"}},
      {"recipe", {"base", "config"}},
      {"transforms", ground},
      {"text", ground},
      {"models", ground},
      {"losses", ground},
      {"callbacks", ground},
      {"data", with({"transforms", "text"})},
      {"metrics", with({"losses"})},
      {"optim", with({"models", "schedules"})},
      {"checkpoint", with({"models"})},
      {"distributed", with({"models", "losses", "data"})},
      {"train", with(tensors)},
      {"schedules", {"base", "config", "recipe"}},
      {"cli", {"base", "config", "recipe", "schedules"}},
      {"checker", {"base", "config", "recipe", "schedules", "cli"}},
      {"jobs", all},
  };
  return floors;
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

TEST(Floors, EveryFolderHasItsPlace) {
  for (const auto& folder : folders())
    EXPECT_TRUE(may_include().contains(folder)) << "src/" << folder << " is on no floor";
}

TEST(Floors, IncludesPointDown) {
  for (const auto& [folder, allowed] : may_include())
    for (const auto& include : includes_of(folder)) {
      const auto target = include.name.substr(0, include.name.find('/'));
      if (!may_include().contains(target) || include.name.find('/') == std::string::npos) continue;
      EXPECT_TRUE(target == folder || allowed.contains(target))
          << include.file << " includes " << include.name << ", which is not below it";
    }
}

TEST(Floors, TheLowerOnesKnowNoTorch) {
  static const std::regex torch("^(torch|ATen|c10|caffe2)/");
  for (const std::string folder : {"base", "config", "recipe", "launch", "transforms", "text",
                                   "callbacks", "schedules", "cli", "checker"})
    for (const auto& include : includes_of(folder))
      EXPECT_FALSE(std::regex_search(include.name, torch))
          << include.file << " includes " << include.name;
}

TEST(Floors, NobodyIncludesAllOfTorch) {
  const Names heavy{"torch/torch.h", "torch/nn.h", "torch/all.h", "ATen/ATen.h"};
  for (const auto& [folder, unused] : may_include())
    for (const auto& include : includes_of(folder))
      EXPECT_FALSE(heavy.contains(include.name)) << include.file << " includes " << include.name;
}

TEST(Floors, YamlCppIsKnownToTheReaderAlone) {
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
