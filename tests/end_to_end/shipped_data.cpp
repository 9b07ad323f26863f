#include "end_to_end/shipped_data.h"

#include <stdexcept>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {

using nlohmann::json;

namespace {

const std::string& small_data() {
  static const Folder folder;
  static const std::string path = [] {
    const auto script = test::in_source("scripts/gpu_check/made_data.py");
    const auto made =
        Program({script, test::program(), folder / "data"}, folder.path(), {}, "/usr/bin/python3")
            .wait();
    if (made.code != 0) throw std::runtime_error("made_data.py failed: " + made.err);
    return folder / "data";
  }();
  return path;
}

std::string with_data(std::string text) {
  const auto at = text.find("DATA");
  return at == std::string::npos ? text : text.replace(at, 4, small_data());
}

}  // namespace

const json& shipped_table() {
  static const json table = json::parse(read(test::in_source("scripts/gpu_check/shipped.json")));
  return table;
}

std::vector<std::string> shipped_overrides(const json& how) {
  std::vector<std::string> all;
  for (const std::string text : how.at("set")) {
    const auto& shorter = shipped_table().at("short");
    if (!shorter.contains(text)) {
      all.push_back(with_data(text));
      continue;
    }
    for (const std::string each : shorter.at(text)) all.push_back(with_data(each));
  }
  return all;
}

}  // namespace ddptrain::end_to_end
