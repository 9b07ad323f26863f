// short.txt, by which `make test` chooses among the tests that start the program.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

std::set<std::string> names_of_tests() {
  std::set<std::string> names;
  const auto& unit = *testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const auto& suite = *unit.GetTestSuite(s);
    for (int i = 0; i < suite.total_test_count(); ++i)
      names.insert(std::string(suite.name()) + "." + suite.GetTestInfo(i)->name());
  }
  return names;
}

/// As GoogleTest reads a filter of one pattern.
bool matches_one(const std::string& pattern, const std::set<std::string>& names) {
  for (const auto& name : names)
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  return false;
}

TEST(ShortList, NamesTestsThatExist) {
  const auto names = names_of_tests();
  EXPECT_FALSE(matches_one("NoSuite.*", names));
  std::istringstream lines(read(test::in_source("tests/end_to_end/short.txt")));
  int patterns = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    EXPECT_TRUE(matches_one(line.substr(line.find(' ') + 1), names)) << line;
    ++patterns;
  }
  EXPECT_GE(patterns, 30);
}

}  // namespace
}  // namespace ddptrain::end_to_end
