#include "jobs/data/data_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/output/long_work.h"
#include "base/random.h"
#include "base/text.h"
#include "config/decode.h"
#include "data/image/image_files.h"
#include "recipe/targets.h"
#include "sources/remote/data_files.h"
#include "sources/shards/shard_writer.h"
#include "sources/text/json_shards.h"
#include "sources/text/text_records.h"
#include "train/build/build.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Samples of a split: what to write for each, in order.
struct ShardedSplit {
  std::string name;
  std::int64_t samples = 0;
  std::function<std::vector<ShardColumn>(std::int64_t)> columns;
};

struct ShardedData {
  std::string digest;  // of all that is written
  std::vector<std::string> classes;
  std::vector<ShardedSplit> splits;
};

std::string image_extension(const std::string& path) {
  const auto extension = lower(fs::path(path).extension().string());
  return extension.empty() ? "jpg" : extension.substr(1);
}

/// A window of a few shards is to have samples of all classes, and folders have one each.
std::vector<std::int64_t> shuffled(std::int64_t samples, std::uint64_t seed) {
  Stream random(mix(seed, hash_text("data shards")), 0);
  return random_order(samples, samples, random);
}

std::vector<std::int64_t> in_order(std::int64_t samples) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

ShardedSplit split_of_images(const std::shared_ptr<const ImageFiles>& data, Split split,
                             std::vector<std::int64_t> order) {
  const auto columns = [data, split, order = std::move(order)](std::int64_t i) {
    const auto index = order[static_cast<std::size_t>(i)];
    return std::vector<ShardColumn>{
        {image_extension(data->sample_name(split, index)), data->file_bytes(split, index)},
        {"cls", std::to_string(data->label(split, index))}};
  };
  return {split == Split::train ? "train" : "valid", data->size(split), columns};
}

ShardedData sharded_images(const Recipe& recipe) {
  if (written_target(recipe, all_catalogs()) != TargetKind::classes)
    throw Error(Exit::recipe, Option{"data"},
                "shards are written of images of one class each and of lines of JSON, and '{}' "
                "gives other targets",
                recipe.data.type());
  std::shared_ptr<Dataset> built = build_data(recipe);
  const auto data = std::dynamic_pointer_cast<const ImageFiles>(built);
  if (!data)
    throw Error(Exit::recipe, Option{"data"},
                "shards are written of image files and of lines of JSON; '{}' has neither",
                recipe.data.type());
  const auto seed = seed_of_data(recipe);
  return {data->digest() + fmt::format(" {}", seed),
          data->facts().classes,
          {split_of_images(data, Split::train, shuffled(data->size(Split::train), seed)),
           split_of_images(data, Split::valid, in_order(data->size(Split::valid)))}};
}

ShardedSplit split_of_lines(const FileSystem& files, const std::string& name,
                            const std::string& file, std::string& digest) {
  const auto lines = std::make_shared<const std::vector<std::string>>(json_texts(files, file));
  for (const auto& line : *lines) digest += sha256(line);
  return {name, std::ssize(*lines), [lines](std::int64_t i) {
            return std::vector<ShardColumn>{{"json", (*lines)[static_cast<std::size_t>(i)]}};
          }};
}

ShardedData sharded_lines(const Recipe& recipe) {
  const auto options = decode<TextRecordOptions>(recipe.data.node());
  const auto files = data_files(recipe.data);
  ShardedData data;
  std::string digest;
  data.splits.push_back(split_of_lines(*files, "train", options.file, digest));
  if (options.valid_file)
    data.splits.push_back(split_of_lines(*files, "valid", *options.valid_file, digest));
  data.digest = sha256(digest);
  return data;
}

/// What an interrupted call was about, in unfinished.json, which index.json replaces at the end.
class ShardFolder {
 public:
  ShardFolder(std::string folder, const ShardedData& data, std::uint64_t most)
      : folder_(std::move(folder)), about_{{"data", data.digest}, {"shard_bytes", most}} {}

  /// False where all is there already.
  bool begin() {
    make_folders(folder_);
    if (is_about(index())) return false;
    if (!is_about(unfinished())) {
      if (!fs::is_empty(folder_))
        throw Error(Exit::data, "'{}' has other files; name another folder", folder_);
      write_atomically(unfinished(), about_.dump());
    }
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename().string().find(".tmp") != std::string::npos)
        fs::remove(entry.path());
    return true;
  }

  void end(Json index_json) {
    Json whole = about_;
    whole.update(index_json);
    write_atomically(index(), whole.dump(1) + "\n");
    fs::remove(unfinished());
  }

 private:
  std::string index() const { return folder_ + "/index.json"; }
  std::string unfinished() const { return folder_ + "/unfinished.json"; }

  bool is_about(const std::string& file) const {
    std::error_code unknown;
    if (!fs::exists(file, unknown)) return false;
    const auto there = Json::parse(read_text(file), nullptr, false);
    const bool same = there.is_object() && there.value("data", "") == about_["data"] &&
                      there.value("shard_bytes", std::uint64_t{0}) == about_["shard_bytes"];
    if (same) return true;
    throw Error(Exit::data,
                "'{}' has shards of other samples or of another size; name another folder",
                folder_);
  }

  std::string folder_;
  Json about_;
};

Json written_split(const ShardedSplit& split, const std::string& folder, std::uint64_t most) {
  ShardWriter writer(folder, split.name, most);
  LongWork work(fmt::format("writing {} shards", split.name), split.samples);
  for (std::int64_t i = 0; i < split.samples; work.did(), ++i)
    writer.add(fmt::format("{:09}", i), [&] { return split.columns(i); });
  Json shards = Json::array();
  std::uint64_t bytes = 0;
  for (const auto& shard : writer.finish()) {
    bytes += shard.bytes;
    shards.push_back({{"name", shard.name},
                      {"bytes", shard.bytes},
                      {"samples", shard.samples},
                      {"sha256", shard.sha256}});
  }
  log::info("wrote {} of {} into {} of '{}' ({})", plural(split.samples, "sample"), split.name,
            plural(std::ssize(shards), "shard"), folder,
            format_bytes(static_cast<std::int64_t>(bytes)));
  return {{"samples", split.samples}, {"shards", std::move(shards)}};
}

}  // namespace

void write_shards(const Recipe& recipe, const std::string& folder, std::uint64_t most) {
  const bool lines = catalog<Dataset>().find(recipe.data.type())->has("label_in_lines");
  const auto data = lines ? sharded_lines(recipe) : sharded_images(recipe);
  ShardFolder shards(folder, data, most);
  if (!shards.begin()) return log::info("the shards are in '{}' already", folder);
  Json index;
  if (!data.classes.empty()) index["classes"] = data.classes;
  for (const auto& split : data.splits) index[split.name] = written_split(split, folder, most);
  shards.end(std::move(index));
}

}  // namespace ddptrain
