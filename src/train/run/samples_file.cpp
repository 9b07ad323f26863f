#include "train/run/samples_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/base64.h"
#include "base/output/log.h"
#include "data/dataset.h"
#include "data/preview.h"
#include "train/training.h"
#include "transforms/codecs/write.h"
#include "transforms/geometry/resample.h"

namespace ddptrain {
namespace {

constexpr int kThumbnail = 96;  // pixels
constexpr std::size_t kMostText = 600;

double by_error_or_mistake(const SampleOutcome& sample) {
  return std::isfinite(sample.probability) ? by_mistake(sample) : by_error(sample);
}

std::set<std::int64_t> shown_indices(const std::vector<SampleOutcome>& samples) {
  std::vector<const SampleOutcome*> all;
  for (const auto& sample : samples) all.push_back(&sample);
  std::set<std::int64_t> chosen;
  for (const auto order : {by_error_or_mistake, by_certainty})
    for (const auto* sample : first_samples(all, order)) chosen.insert(sample->index);
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

ShownSample shown_sample(const Dataset& data, std::int64_t index) {
  const auto preview = data.preview(Split::valid, index, {});
  ShownSample shown{short_name(data, index), {}, {}};
  for (const auto& [title, text] : preview.cells) shown.cells.emplace_back(title, beginning(text));
  if (preview.image && !preview.image->is_float()) shown.png = thumbnail(*preview.image);
  return shown;
}

}  // namespace

void write_samples(const Training& t, const std::vector<SampleOutcome>& samples,
                   const ScoredWeights& weights, const std::string& folder) {
  if (samples.empty()) return;
  try {
    SamplesFile file{weights, t.data->size(Split::valid), t.data->facts().classes, samples, {}};
    for (const auto index : shown_indices(samples))
      file.shown[index] = shown_sample(*t.data, index);
    write_samples_json(file, folder);
  } catch (const std::exception& error) {
    log::warning("no {} was written: {}", kSamplesJson, error.what());
  }
}

}  // namespace ddptrain
