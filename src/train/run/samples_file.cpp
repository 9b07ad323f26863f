#include "train/run/samples_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/base64.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "data/dataset.h"
#include "data/preview.h"
#include "train/training.h"
#include "transforms/codecs/write.h"
#include "transforms/geometry/resample.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 18;  // of the worst, and of the least certain
constexpr int kThumbnail = 96;      // pixels
constexpr std::size_t kMostText = 600;

bool is_class(const SampleOutcome& sample) { return std::isfinite(sample.probability); }

/// The first of an order, where what `of` gives is finite; small values first.
template <class Of>
void add_first(std::set<std::int64_t>& chosen, std::vector<SampleOutcome> samples, Of of) {
  std::erase_if(samples, [&](const auto& sample) { return !std::isfinite(of(sample)); });
  std::stable_sort(samples.begin(), samples.end(),
                   [&](const auto& a, const auto& b) { return of(a) < of(b); });
  for (std::size_t i = 0; i < std::min(kShown, samples.size()); ++i)
    chosen.insert(samples[i].index);
}

std::set<std::int64_t> telling(const std::vector<SampleOutcome>& samples) {
  std::set<std::int64_t> chosen;
  add_first(chosen, samples, [](const SampleOutcome& s) {
    if (!is_class(s)) return -std::abs(s.predicted - s.truth);
    return s.predicted == s.truth ? NAN : -s.loss;
  });
  add_first(chosen, samples, [](const SampleOutcome& s) { return s.probability - s.second; });
  return chosen;
}

std::string thumbnail(const Image& image) {
  const double scale = std::min(1.0, double(kThumbnail) / std::max(image.width, image.height));
  if (scale == 1.0) return base64(encode_png(image));
  Image small;
  resample(image,
           whole(image, std::max(1, static_cast<int>(std::lround(image.width * scale))),
                 std::max(1, static_cast<int>(std::lround(image.height * scale)))),
           small);
  return base64(encode_png(small));
}

/// Of a path the last two parts: folders of a machine say nothing to who reads a report, and the
/// folder of an image is often its class.
std::string short_name(const Dataset& data, std::int64_t index) {
  const auto name = data.sample_name(Split::valid, index);
  if (data.name_kind() != "path" || !name.starts_with("/")) return name;
  const auto path = std::filesystem::path(name);
  return (path.parent_path().filename() / path.filename()).string();
}

/// At most kMostText bytes of UTF-8, whole characters.
std::string beginning(const std::string& text) {
  if (text.size() <= kMostText) return text;
  auto end = kMostText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

Json shown_sample(const Dataset& data, std::int64_t index) {
  const auto preview = data.preview(Split::valid, index, {});
  Json json{{"name", short_name(data, index)}, {"cells", Json::array()}};
  for (const auto& [title, text] : preview.cells) json["cells"].push_back({title, beginning(text)});
  if (preview.image && !preview.image->is_float()) json["png"] = thumbnail(*preview.image);
  return json;
}

Json json_of_samples(const Training& t, const std::vector<SampleOutcome>& samples,
                     const ScoredWeights& weights) {
  Json json{{"weights", weights.name},
            {"step", weights.step},
            {"of", t.data->size(Split::valid)},
            {"classes", t.data->facts().classes}};
  auto& rows = json["rows"] = Json::array();
  for (const auto& s : samples)
    rows.push_back({s.index, s.loss, s.truth, s.predicted, s.probability, s.second});
  auto& shown = json["shown"] = Json::object();
  for (const auto index : telling(samples))
    shown[std::to_string(index)] = shown_sample(*t.data, index);
  return json;
}

}  // namespace

void write_samples(const Training& t, const std::vector<SampleOutcome>& samples,
                   const ScoredWeights& weights, const std::string& folder) {
  if (samples.empty()) return;
  try {
    const auto json = json_of_samples(t, samples, weights);
    write_atomically(folder + "/samples.json",
                     json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const std::exception& error) {
    log::warning("no samples.json was written: " + std::string(error.what()));
  }
}

}  // namespace ddptrain
