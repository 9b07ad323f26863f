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

}  // namespace

std::string data_json(const Dataset& data) {
  Json json{{"classes", data.facts().classes}, {"splits", Json::array()}};
  for (const auto& [name, split] : {std::pair{"train", Split::train}, {"valid", Split::valid}})
    if (data.size(split) > 0)
      json["splits"].push_back(
          {{"name", name}, {"samples", data.size(split)}, {"counts", counts_of(data, split)}});
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_data_file(const Dataset& data, const std::string& folder) {
  try {
    write_atomically(folder + "/data.json", data_json(data));
  } catch (const std::exception& error) {
    log::warning("no data.json was written: " + std::string(error.what()));
  }
}

}  // namespace ddptrain
