// data.json of a run folder: how many samples each split has, and of which classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

inline constexpr const char* kDataJson = "data.json";

struct CountedSplit {
  std::string name;  // "train"
  std::int64_t samples = 0;
  std::vector<std::int64_t> counts;  // of each class; none where samples have no classes
};

/// A sample with several labels counts for each.
struct DataCounts {
  std::vector<std::string> classes;
  std::vector<CountedSplit> splits;
};

void write_data_json(const DataCounts& data, const std::string& folder);

/// Of the file's text. An Error (Exit::data) where it cannot be read.
DataCounts data_counts_of(const std::string& text);

}  // namespace ddptrain
