// Lines of src/ that only some files may have.
#pragma once

#include <gtest/gtest.h>
#include <regex.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "base/files/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain::test {

/// A regular expression of the C library, which is fifty times faster than std::regex.
class Pattern {
 public:
  explicit Pattern(const std::string& text) {
    EXPECT_EQ(::regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB), 0) << text;
  }
  ~Pattern() { ::regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  bool finds(const std::string& line) const {
    return ::regexec(&compiled_, line.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t compiled_{};
};

using MayHave = std::function<bool(const std::string& file)>;

/// Expects that no file of src/ but those that may has a line with `pattern`. The pattern must be
/// seen to work: it finds each of `samples`, and a line in a file that may have it.
inline void expect_lines_only_where(const MayHave& may, const std::string& pattern,
                                    const std::set<std::string>& samples) {
  namespace fs = std::filesystem;
  const Pattern words(pattern);
  for (const auto& sample : samples)
    EXPECT_TRUE(words.finds(sample)) << pattern << " does not find " << sample;
  int found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(in_source("src"))) {
    const auto name = fs::relative(entry.path(), in_source("src")).string();
    if (!name.ends_with(".h") && !name.ends_with(".cpp")) continue;
    for (const auto& line : split(read_text(entry.path()), '\n')) {
      if (!words.finds(line)) continue;
      EXPECT_TRUE(may(name)) << "src/" << name << ": " << line;
      ++found;
    }
  }
  EXPECT_GT(found, 0) << pattern << " finds nothing where it may be";
}

inline void expect_lines_only_in(const std::set<std::string>& files, const std::string& pattern,
                                 const std::set<std::string>& samples) {
  expect_lines_only_where([&](const std::string& file) { return files.contains(file); }, pattern,
                          samples);
}

}  // namespace ddptrain::test
