// Every shipped recipe with one mistake: the program must refuse it, say where, and say what was
// meant.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include "base/files/files.h"
#include "config/yaml/reader.h"
#include "mutations/mutations.h"
#include "recipe/load/load.h"
#include "support/components.h"
#include "support/temporary_folder.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using test::Mutant;

constexpr std::size_t kShownMisses = 5;
constexpr std::size_t kMostOfAKind = 12;  // of a recipe
constexpr std::size_t kKept = 10;         // one of so many, for the test of the schema

struct Count {
  int made = 0, refused = 0, line = 0, column = 0;
  int asked = 0, suggested = 0;
};

/// The recipes in a folder of their own, where one after the other is replaced by its mutants.
class Mutations : public testing::Test {
 protected:
  Mutations() {
    for (const std::string folder : {"recipes", "configs"}) {
      fs::copy(test::in_source(folder), copy_ / folder, fs::copy_options::recursive);
      for (const auto& entry : fs::recursive_directory_iterator(copy_ / folder))
        if (entry.path().extension() == ".yaml") files_.push_back(entry.path().string());
    }
    std::sort(files_.begin(), files_.end());
  }

  std::vector<Mutant> mutants_of(const std::string& file) const {
    auto good = load_recipe({file}, {}, test::committed_catalogs());
    EXPECT_FALSE(has_errors(good.problems)) << render(good.problems);
    const auto text = read_text(file);
    test::Surgery surgery({fs::path(file).filename(), text, read_yaml(text, file).tree, good.tree},
                          shape_, test::committed_catalogs());
    mutate_keys(surgery);
    mutate_values(surgery);
    mutate_syntax(surgery);
    mutate_bytes(surgery);
    return some_of(surgery.take());
  }

  /// At most a dozen of each kind, evenly; all of them when DDPTRAIN_MUTANTS is set.
  static std::vector<Mutant> some_of(std::vector<Mutant> all) {
    if (std::getenv("DDPTRAIN_MUTANTS")) return all;
    std::map<std::string, std::size_t> made, seen;
    for (const auto& mutant : all) ++made[mutant.kind];
    std::erase_if(all, [&](const Mutant& mutant) {
      const auto count = made[mutant.kind];
      const auto at = seen[mutant.kind]++;
      return count > kMostOfAKind && at * kMostOfAKind / count == (at + 1) * kMostOfAKind / count;
    });
    return all;
  }

  /// Where DDPTRAIN_KEEP_MUTANTS names a folder: some mutants as files next to the good recipes.
  void keep(const std::string& file, const std::vector<Mutant>& mutants) const {
    const auto* folder = std::getenv("DDPTRAIN_KEEP_MUTANTS");
    if (!folder) return;
    const auto stem = (folder / fs::relative(file, copy_).replace_extension()).string();
    fs::create_directories(fs::path(stem).parent_path());
    fs::copy_file(file, stem + ".yaml", fs::copy_options::overwrite_existing);
    for (std::size_t i = 0; i < mutants.size(); i += kKept)
      write_atomically(stem + ".mutant" + std::to_string(i) + ".yaml", mutants[i].text);
  }

  void judge(const std::string& file, const Mutant& mutant) {
    std::ofstream(file, std::ios::binary) << mutant.text;
    const auto problems = load_recipe({file}, {}, test::committed_catalogs()).problems;
    auto& count = counts_[mutant.kind];
    ++count.made;
    count.refused += has_errors(problems);
    const auto here = [&](const Problem& p, bool column) {
      return p.severity == Severity::error && p.place.file == file && p.place.line == mutant.line &&
             (!column || p.place.column == mutant.column);
    };
    const auto find = [&](bool column) {
      return std::find_if(problems.begin(), problems.end(),
                          [&](const Problem& p) { return here(p, column); });
    };
    const bool line = find(false) != problems.end(), column = find(true) != problems.end();
    count.line += line;
    count.column += column;
    bool named = true;
    if (!mutant.meant.empty()) {
      named = std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
        return here(p, false) &&
               names(p.message.substr(std::min(p.message.find("; "), p.message.size())),
                     mutant.meant);
      });
      ++count.asked;
      count.suggested += named;
    }
    if (!line || !column || !named) miss(file, mutant, problems);
  }

  static bool names(const std::string& message, const std::vector<std::string>& meant) {
    return std::any_of(meant.begin(), meant.end(), [&](const std::string& name) {
      return message.find("'" + name + "'") != std::string::npos;
    });
  }

  void miss(const std::string& file, const Mutant& mutant, const Problems& problems) {
    auto& shown = misses_[mutant.kind];
    if (shown.size() >= kShownMisses) return;
    auto text = mutant.kind + ", " + fs::path(file).filename().string() + ":" +
                std::to_string(mutant.line) + ":" + std::to_string(mutant.column);
    if (!mutant.meant.empty()) text += ", meant " + join_names(mutant.meant);
    shown.push_back(text + "\n" + source_of(mutant) + render(problems));
  }

  static std::string join_names(const std::vector<std::string>& names) {
    std::string all;
    for (const auto& name : names) all += (all.empty() ? "" : " or ") + name;
    return all;
  }

  static std::string source_of(const Mutant& mutant) {
    std::istringstream in(mutant.text);
    std::string line;
    for (int i = 0; i < mutant.line; ++i) std::getline(in, line);
    return "  " + line + "\n";
  }

  Count total(const std::string& prefix = "") const {
    Count sum;
    for (const auto& [kind, count] : counts_) {
      if (!kind.starts_with(prefix)) continue;
      sum.made += count.made;
      sum.refused += count.refused;
      sum.line += count.line;
      sum.column += count.column;
      sum.asked += count.asked;
      sum.suggested += count.suggested;
    }
    return sum;
  }

  static void row(const std::string& kind, const Count& count) {
    std::cout << std::left << std::setw(28) << kind << std::right << std::setw(6) << count.made
              << std::setw(9) << count.refused << std::setw(7) << count.line << std::setw(8)
              << count.column;
    if (count.asked > 0) std::cout << std::setw(10) << count.suggested << " of " << count.asked;
    std::cout << "\n";
  }

  void print() const {
    std::cout << "kind                          made  refused   line  column  suggested\n";
    for (const auto& [kind, count] : counts_) row(kind, count);
    row("all", total());
    for (const auto& [kind, misses] : misses_)
      for (const auto& miss : misses) std::cout << "\n" << miss;
  }

  const TemporaryFolder folder_;
  const fs::path copy_ = folder_.path();
  const Shape shape_ = shape_of<Recipe>();
  std::vector<std::string> files_;
  std::map<std::string, Count> counts_;
  std::map<std::string, std::vector<std::string>> misses_;
};

TEST_F(Mutations, AreRefusedAtTheirPlaceWithTheRightSuggestion) {
  for (const auto& file : files_) {
    const auto good = read_text(file);
    const auto mutants = mutants_of(file);
    keep(file, mutants);
    for (const auto& mutant : mutants) judge(file, mutant);
    write_atomically(file, good);
  }
  print();
  const auto all = total(), misspelled = total("misspelled key");
  EXPECT_GE(all.made, 1000);
  EXPECT_EQ(all.refused, all.made);
  EXPECT_EQ(all.line, all.made);
  EXPECT_GE(all.column, 0.95 * all.made);
  EXPECT_GE(misspelled.asked, 500);
  EXPECT_GE(misspelled.suggested, 0.95 * misspelled.asked);
}

}  // namespace
}  // namespace ddptrain
