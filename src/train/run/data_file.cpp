#include "train/run/data_file.h"

#include "base/output/log.h"

namespace ddptrain {
namespace {

std::vector<std::int64_t> class_counts(const Dataset& data, Split split) {
  std::vector<std::int64_t> counts(data.facts().classes.size());
  bool known = false;
  for (std::int64_t i = 0; i < data.size(split); ++i)
    for (const auto label : data.labels(split, i))
      if (label >= 0 && label < std::ssize(counts)) {
        ++counts[static_cast<std::size_t>(label)];
        known = true;
      }
  if (!known) counts.clear();
  return counts;
}

void add(DataCounts& all, const std::string& name, const Dataset& data, Split split) {
  if (data.size(split) > 0)
    all.splits.push_back({name, data.size(split), class_counts(data, split)});
}

}  // namespace

DataCounts counts_of(const Dataset& data, const std::vector<NamedData>& others) {
  DataCounts all{data.facts().classes, {}};
  add(all, "train", data, Split::train);
  add(all, "valid", data, Split::valid);
  for (const auto& [name, other] : others) add(all, name, *other, Split::valid);
  return all;
}

void write_data_file(const Dataset& data, const std::vector<NamedData>& others,
                     const std::string& folder) {
  try {
    write_data_json(counts_of(data, others), folder);
  } catch (const std::exception& error) {
    log::warning("no {} was written: {}", kDataJson, error.what());
  }
}

}  // namespace ddptrain
