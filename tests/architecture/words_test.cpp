// Comments, strings and documents use the field's own terms in American spelling, as torch does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "architecture/source_lines.h"
#include "base/files/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThisFile = "tests/architecture/words_test.cpp";

struct Avoided {
  std::string pattern;  // of lower case, between characters that are no letters or underscores
  std::string instead;
  std::vector<std::string> samples;     // that the pattern finds
  std::map<std::string, int> files;     // that have so many lines with it, for a reason
  std::vector<std::string> lookalikes;  // that it does not find
};

const std::vector<Avoided>& avoided() {
  static const std::vector<Avoided> rows = {
      {"said", "reported, logged, printed", {"is said at once", "Said so"}, {}, {"saida"}},
      {"told", "notified, reported, given", {"is told of it"}, {}, {"untold"}},
      {"beside", "next to, in addition to", {"lies beside it"}, {}, {"besides"}},
      {"anew", "again, re-initialized, rebuilt", {"starts anew"}, {}, {"a new"}},
      {"as ever", "unchanged", {"works as ever"}, {}, {"as every"}},
      {"mend(s|ed|ing)?", "fix", {"a mended bug", "to mend"}, {}, {"amended", "recommend"}},
      {"whoever", "the caller, the process that", {"Whoever asks"}, {}, {"whatever"}},
      {"everybody('s)?", "all ranks, all users", {"everybody's"}, {}, {"every body"}},
      {"anybody('s)?", "a user, a caller", {"if anybody asks"}, {}, {"any body"}},
      {"somebody('s)?", "a user, another process", {"somebody else"}, {}, {"some body"}},
      {"nobody('s)?",
       "unused, unknown, no rank",
       {"nobody waits"},
       // Users of ratings.
       {{"tests/end_to_end/tasks/ratings_test.cpp", 2}},
       {"no body"}},
      {"made (data|pictures)", "synthetic data", {"on made data"}, {}, {"made database"}},
      {"go(es)? on with", "resume, continue", {"goes on with it"}, {}, {"goes on without"}},
      {"known by", "named", {"is known by name"}, {}, {"known bytes"}},
      {"(is|are|be) had", "is produced, exported", {"cannot be had"}, {}, {"had been"}},
      {"in turn", "alternately, round-robin", {"both in turn"}, {}, {"in turns"}},
      {"without company", "without collectives", {"runs without company"}, {}, {"without"}},
      {"where it is not there", "if it is missing", {"Where it is not there."}, {}, {"is there"}},
      {"gives? false", "returns false", {"gives false"}, {}, {"is false"}},
      {"(optimi|initiali|normali|serial|synchroni|quanti|generali|regulari|utili|recogni|vectori)"
       "s(e|es|ed|er|ers|ing|ation)",
       "-ize",
       {"an optimiser", "is normalised", "Initialise it", "quantisation"},
       // The spelling that a recipe is corrected from.
       {{"src/config/check/hints.cpp", 1}},
       {"optimistic", "analysis", "recognizes"}},
      {"(colour|behaviour|favour|neighbour|honour)(s|ed|ing|hood|al)?",
       "-or",
       {"a colour", "its behaviours", "neighbouring"},
       {},
       {"color", "four"}},
      {"catalogues?|grey(scale)?|centr(e|es|ed)|licence[sd]?|metres?",
       "catalog, gray, center, license, meter",
       {"a catalogue", "grey pixels", "the centre", "greyscale"},
       {},
       {"central", "greyhound", "catalogs"}},
      {"(label|model|cancel|signal|travel)l(ed|ing)",
       "one l",
       {"labelled", "cancelled", "modelling"},
       {},
       {"cancellation", "labels"}},
  };
  return rows;
}

test::Pattern as_words(const std::string& pattern) {
  return test::Pattern("(^|[^a-z_])(" + pattern + ")($|[^a-z_])");
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Comments and literals of a line of code; other words are blanks. Not of raw strings and comments
/// over several lines, which are looked at as a whole.
std::string prose_of(const std::string& line) {
  std::string prose;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!quoted && line.compare(i, 2, "//") == 0) return prose + line.substr(i);
    if (quoted && line[i] == '\\') {
      prose += "  ";
      ++i;
      continue;
    }
    if (line[i] == '"') quoted = !quoted;
    prose += quoted ? line[i] : ' ';
  }
  return prose;
}

bool is_code(const fs::path& file) {
  static const std::set<std::string> endings = {".h", ".cpp", ".cu", ".cuh"};
  return endings.contains(file.extension());
}

bool is_document(const fs::path& file) {
  static const std::set<std::string> endings = {".md", ".yaml", ".1", ".txt", ".sh", ".py", ""};
  return endings.contains(file.extension());
}

std::vector<std::string> files_in(const std::string& folder, bool (*counts)(const fs::path&)) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(test::in_source(folder)))
    if (entry.is_regular_file() && counts(entry.path()))
      found.push_back(fs::relative(entry.path(), test::in_source("")));
  return found;
}

std::string words_of(const std::string& file, const std::string& line) {
  return lower(is_code(file) ? prose_of(line) : line);
}

/// Expects that no line has an avoided word, but for the files that an exception names.
void expect_field_terms(const std::vector<std::string>& files) {
  std::vector<std::map<std::string, int>> found(avoided().size());
  std::string any;
  for (const auto& row : avoided()) any += (any.empty() ? "" : "|") + row.pattern;
  const auto one_of_all = as_words(any);
  for (const auto& file : files) {
    if (file == kThisFile) continue;
    int number = 0;
    for (const auto& raw : split(read_text(test::in_source(file)), '\n')) {
      ++number;
      const auto line = words_of(file, raw);
      if (!one_of_all.finds(line)) continue;
      for (std::size_t i = 0; i < avoided().size(); ++i) {
        const auto& row = avoided()[i];
        if (!as_words(row.pattern).finds(line)) continue;
        const auto excepted = row.files.find(file);
        if (excepted != row.files.end() && ++found[i][file] <= excepted->second) continue;
        ADD_FAILURE() << file << ":" << number << ": write '" << row.instead << "' for '"
                      << row.pattern << "': " << raw.substr(0, 160);
      }
    }
  }
}

TEST(Words, AreFoundWhereTheyAre) {
  for (const auto& row : avoided()) {
    const auto pattern = as_words(row.pattern);
    for (const auto& sample : row.samples) EXPECT_TRUE(pattern.finds(lower(sample))) << sample;
    for (const auto& other : row.lookalikes) EXPECT_FALSE(pattern.finds(lower(other))) << other;
    EXPECT_FALSE(row.samples.empty()) << row.pattern;
    for (const auto& [file, lines] : row.files) {
      int found = 0;
      for (const auto& line : split(read_text(test::in_source(file)), '\n'))
        found += pattern.finds(words_of(file, line));
      EXPECT_EQ(found, lines) << row.pattern << " in " << file << ": change the exception";
    }
  }
}

TEST(Words, AreLookedForInCommentsAndLiterals) {
  EXPECT_EQ(prose_of("f(said);  // said"), "          // said");
  EXPECT_EQ(prose_of("f(said, \"a \\\" said\");"), "        \"a    said   ");
}

TEST(Words, OfCodeAreThoseOfTheField) {
  auto files = files_in("src", is_code);
  const auto tests = files_in("tests", is_code);
  EXPECT_GT(files.size(), 500U);
  EXPECT_GT(tests.size(), 300U);
  files.insert(files.end(), tests.begin(), tests.end());
  expect_field_terms(files);
}

TEST(Words, OfDocumentsAreThoseOfTheField) {
  std::vector<std::string> files = {"README.md", "CONTRIBUTING.md", "src/README.md", "Makefile",
                                    "CHANGELOG.md"};
  for (const auto* folder : {"docs", "bench", "recipes", "configs", "scripts", "python"})
    for (const auto& file : files_in(folder, is_document)) files.push_back(file);
  for (const auto* schema : {"schemas/recipe.json", "schemas/components.json"})
    files.emplace_back(schema);
  EXPECT_GT(files.size(), 50U);
  expect_field_terms(files);
}

}  // namespace
}  // namespace ddptrain
