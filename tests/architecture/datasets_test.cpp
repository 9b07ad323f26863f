// General code asks for a dataset's traits (data/catalog.cpp), not which one it is, so that another
// dataset is a file, its row and its test.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/files/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::string dataset_names() {
  static const std::regex exported("Entry<Dataset> (\\w+)_dataset\\(\\) \\{");
  std::string names = "text_";
  for (const auto& entry : fs::recursive_directory_iterator(test::in_source("src/data"))) {
    if (!entry.is_regular_file()) continue;
    const auto text = read_text(entry.path());
    std::smatch match;
    if (std::regex_search(text, match, exported)) names += "|" + match[1].str();
  }
  return names;
}

TEST(Datasets, AreNotToldApartByName) {
  const auto names = dataset_names();
  ASSERT_NE(names.find("csv_table"), std::string::npos);
  const std::regex asks("([=!]= |starts_with\\()\"(" + names + ")\"");
  for (const std::string folder : {"recipe", "train", "cli", "jobs", "models", "metrics", "losses"})
    for (const auto& entry : fs::recursive_directory_iterator(test::in_source("src/" + folder))) {
      if (!entry.is_regular_file()) continue;
      for (const auto& line : split(read_text(entry.path()), '\n'))
        EXPECT_FALSE(std::regex_search(line, asks)) << entry.path() << ": " << line;
    }
}

}  // namespace
}  // namespace ddptrain
