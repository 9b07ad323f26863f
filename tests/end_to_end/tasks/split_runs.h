// Runs on a small table whose other rows are scored too.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {

/// Rows of a line with noise, from row `first` on.
inline std::string points(int first, int rows) {
  std::string csv = "a,b,side\n";
  for (int i = first; i < first + rows; ++i) {
    const int a = i * 37 % 101, b = i * 53 % 89;
    csv += std::to_string(a) + "," + std::to_string(b) + "," +
           (a + i * 7 % 30 > b + 20 ? "above" : "below") + "\n";
  }
  return csv;
}

/// 120 rows of which 24 are held out, and other rows in files of their own.
inline const std::string kSplitTable = R"(recipe: 1
name: small
model: {type: tabular, layers: [8], ps: [0.1]}
data: {type: csv_table, file: points.csv, target: side, valid: {fraction: 0.2}}
batch: {global: 12}
train: {duration: 24 steps, threads: 1}
metrics: [accuracy]
optimizer: {type: adam, lr: 1e-2}
eval:
  every: 8 steps
  batch: 7
  splits:
    half: {valid: {fraction: 0.5, seed: 3}}
    others: {file: others.csv, valid: {fraction: 0.6}}
  test: {file: test.csv, valid: {fraction: 0.9}}
checkpoint: {every: 8 steps, keep_last: 9}
parallel: {device: cpu}
log: {every: 1 step, tensorboard: false}
)";

class Splits : public testing::Test {
 protected:
  Splits() {
    write(folder_ / "points.csv", points(0, 120));
    write(folder_ / "others.csv", points(500, 50));
    write(folder_ / "test.csv", points(900, 40));
    write(folder_ / "small.yaml", kSplitTable);
  }
  Ended start(const std::vector<std::string>& more,
              const std::string& recipe = "small.yaml") const {
    std::vector<std::string> words{"run", recipe};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, folder_.path(), environment());
  }
  Ended eval(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"eval", "runs/small/001"};
    words.insert(words.end(), more.begin(), more.end());
    auto ended = run(words, folder_.path(), environment());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  const Folder folder_;
};

using Scores = std::map<std::string, std::string>;

/// "sketch/loss 0.25" and so on, with every digit.
inline Scores printed_scores(const std::string& out) {
  Scores values;
  std::istringstream lines(out);
  std::string name, value;
  while (lines >> name >> value) values[name] = value;
  return values;
}

inline std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) all.push_back(cell);
  return all;
}

/// The rows of metrics.csv by the names of its columns.
inline std::vector<Scores> rows_of(const std::string& run_folder) {
  std::istringstream lines(read(run_folder + "/metrics.csv"));
  std::string line;
  std::getline(lines, line);
  const auto names = cells(line);
  std::vector<Scores> rows;
  while (std::getline(lines, line)) {
    const auto values = cells(line);
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i)
      row[names[i]] = i < values.size() ? values[i] : "";
  }
  return rows;
}

inline Scores last_row(const std::string& run_folder) { return rows_of(run_folder).back(); }

/// The number behind "name": in run.json.
inline std::string in_record(const std::string& run_folder, const std::string& name) {
  const auto text = read(run_folder + "/run.json");
  const auto at = text.find("\"" + name + "\":");
  if (at == std::string::npos) return "";
  const auto from = text.find_first_not_of(" ", at + name.size() + 3);
  return text.substr(from, text.find_first_of(",\n }", from) - from);
}

inline int times(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace ddptrain::end_to_end
