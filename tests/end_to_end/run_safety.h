// A run of a small network in a folder of its own, resumed and damaged.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {

namespace fs = std::filesystem;

/// Every file of a run folder but its logs, which tell of each attempt.
inline std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto name = entry.path().lexically_relative(folder).string();
    if (entry.is_regular_file() && !name.starts_with("log.")) files[name] = read(entry.path());
  }
  return files;
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class RunSafety : public testing::Test {
 protected:
  RunSafety() { write(folder_ / "small.yaml", small_recipe()); }

  Ended start(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"run", "small.yaml", kSmallModel, "train.threads=1", "eval.every=2 steps",
                  "checkpoint={every: 2 steps, keep_last: 9}"});
    return run(words, folder_.path(), environment());
  }
  Ended resume(std::vector<std::string> words) {
    words.insert(words.begin(), "resume");
    return run(words, folder_.path(), environment());
  }
  /// Flips a bit in the middle of a file.
  void damage(const std::string& file) {
    auto bytes = read(file);
    ASSERT_FALSE(bytes.empty()) << file;
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write(file, bytes);
  }
  std::string checkpoint(const std::string& number, int step) const {
    return folder_ / "runs/small/" + number + "/checkpoints/step-0000000" + std::to_string(step);
  }
  std::string latest() const { return fs::read_symlink(folder_ / "runs/small/latest"); }

  const Folder folder_;
};

}  // namespace ddptrain::end_to_end
