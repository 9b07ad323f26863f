// What the program says to a command line, run in this process.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "jobs/engine.h"
#include "support/where.h"

namespace ddptrain::test {

struct CliOutput {
  std::string out, err;
  int code = 0;
};

inline CliOutput cli_output(std::vector<std::string> words,
                            const Program& program = engine_program()) {
  words.insert(words.begin(), "ddptrain");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_command_line(program, words);
  auto out = testing::internal::GetCapturedStdout();
  return {std::move(out), testing::internal::GetCapturedStderr(), code};
}

/// The current folder while it lives.
class Inside {
 public:
  explicit Inside(const std::filesystem::path& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~Inside() { std::filesystem::current_path(before_); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::filesystem::path before_;
};

/// Every recipe that the repository ships, named from its root.
inline std::vector<std::string> shipped_recipes() {
  std::vector<std::string> files;
  for (const std::string folder : {"recipes", "configs"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(in_source(folder)))
      if (entry.path().extension() == ".yaml")
        files.push_back(std::filesystem::relative(entry.path(), in_source("")));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace ddptrain::test
