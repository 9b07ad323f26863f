#include "train/run/data_file.h"

#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "base/output/log.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::int64_t> counts_of(const Dataset& data, Split split) {
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

void add(Json& splits, const std::string& name, const Dataset& data, Split split) {
  if (data.size(split) > 0)
    splits.push_back(
        {{"name", name}, {"samples", data.size(split)}, {"counts", counts_of(data, split)}});
}

}  // namespace

std::string data_json(const Dataset& data, const std::vector<NamedData>& others) {
  Json json{{"classes", data.facts().classes}, {"splits", Json::array()}};
  add(json["splits"], "train", data, Split::train);
  add(json["splits"], "valid", data, Split::valid);
  for (const auto& [name, other] : others) add(json["splits"], name, *other, Split::valid);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_data_file(const Dataset& data, const std::vector<NamedData>& others,
                     const std::string& folder) {
  try {
    write_atomically(folder + "/data.json", data_json(data, others));
  } catch (const std::exception& error) {
    log::warning("no data.json was written: " + std::string(error.what()));
  }
}

}  // namespace ddptrain
