#include "jobs/sweep/sweep_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/text.h"
#include "jobs/series.h"
#include "runs/json_fields.h"
#include "runs/run_folder.h"

namespace ddptrain {

template <class Fields>
void fields(RunValue& run, Fields& f) {
  auto& [key, code, value, best, best_step, steps, ended, error] = run;
  f("trial", key.job.trial);  // in the file from 1, here from 0
  f("rung", key.job.rung);
  f("seed", key.seed);
  f("code", code);
  f("value", value);
  f("best", best);
  f("best_step", best_step);
  f("steps", steps);
  f("ended", ended);
  f("error", error);
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "sweep-";

std::string three_digits(std::int64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%03lld", static_cast<long long>(number));
  return text;
}

std::string record_file(const std::string& folder) { return folder + "/sweep.json"; }

Json read(const std::string& folder) {
  auto json = json_or_null(read_text(record_file(folder)));
  if (!json.is_object() || !json.contains("recipe") || !json.contains("runs"))
    throw Error(Exit::data, "'{}' is not the record of a sweep", record_file(folder));
  return json;
}

void write(const std::string& folder, const std::string& recipe_digest, bool done,
           const std::vector<RunValue>& values) {
  Json json{{"format", 1}, {"done", done}, {"recipe", recipe_digest}, {"runs", Json::array()}};
  for (auto value : values) {
    ++value.key.job.trial;
    json["runs"].push_back(ToJson::value(value));
  }
  write_atomically(record_file(folder), lossy_json_text(json, 2) + "\n");
}

/// Numbers of the sweeps below `home`, the newest first.
std::vector<std::int64_t> sweeps_of(const std::string& home) {
  std::vector<std::int64_t> numbers;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(home, none)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    if (const auto number = parse_integer(name.substr(std::string(kPrefix).size())))
      numbers.push_back(*number);
  }
  std::sort(numbers.rbegin(), numbers.rend());
  return numbers;
}

bool goes_on(const std::string& folder, const std::string& recipe_digest) {
  if (!fs::exists(record_file(folder))) return false;  // cut while it was made
  const auto json = read(folder);
  return json["recipe"] == recipe_digest && !json.value("done", false);
}

}  // namespace

bool has_result(const RunValue& value) { return is_result(value.code); }

SweepRecord::SweepRecord(std::string folder) : folder_(std::move(folder)) {
  const auto json = read(folder_);
  recipe_digest_ = json["recipe"];
  try {
    for (const auto& run : json["runs"]) {
      RunValue value;
      FromJson(run).read(run, value);
      --value.key.job.trial;
      if (has_result(value)) values_.push_back(std::move(value));
    }
  } catch (const Json::exception&) {
    throw Error(Exit::data, "'{}' is not the record of a sweep", record_file(folder_));
  }
}

const RunValue* SweepRecord::find(const RunKey& key) const {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [&](const RunValue& value) { return value.key == key; });
  return found == values_.end() ? nullptr : &*found;
}

void SweepRecord::add(RunValue value) {
  values_.push_back(std::move(value));
  write();
}

void SweepRecord::finish() {
  done_ = true;
  write();
}

void SweepRecord::write() const { ddptrain::write(folder_, recipe_digest_, done_, values_); }

std::string SweepRecord::run_folder(const RunKey& key, std::int64_t seeds) const {
  return folder_ + "/" + three_digits(key.job.trial + 1) +
         (seeds > 1 ? fmt::format("-{}", key.seed + 1) : "");
}

std::string SweepRecord::output_file(const RunKey& key, std::int64_t seeds) const {
  return folder_ + "/output/" + fs::path(run_folder(key, seeds)).filename().string() + ".txt";
}

std::string sweep_folder(const std::string& runs, const std::string& name,
                         const std::string& written, const std::string& recipe_text) {
  const auto home = fs::absolute(runs).lexically_normal().string() + "/" + name;
  make_folders(home);
  const FileLock one_at_a_time(home + "/.sweeps.lock");
  const auto numbers = sweeps_of(home);
  const auto digest = sha256(written);
  for (const auto number : numbers)
    if (const auto folder = home + "/" + kPrefix + three_digits(number); goes_on(folder, digest))
      return folder;
  const auto folder = home + "/" + kPrefix + three_digits(numbers.empty() ? 1 : numbers[0] + 1);
  make_folders(folder + "/output");
  write_recipe(folder, recipe_text);
  write(folder, digest, false, {});
  return folder;
}

}  // namespace ddptrain
