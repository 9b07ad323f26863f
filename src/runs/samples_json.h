// samples.json of a run folder: what weights of the run made of single samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/named_values.h"
#include "base/output/named_table.h"

namespace ddptrain {

inline constexpr const char* kSamplesJson = "samples.json";

/// Of a sample with one class: its label, the likeliest class, that one's probability and the next
/// one's. Of one with a number: the number and the prediction; the probabilities are then NaN.
struct SampleOutcome {
  std::int64_t index = 0;  // in the split
  double loss = 0;         // NaN where the sample does not count
  double truth = 0;
  double predicted = 0;
  double probability = 0;
  double second = 0;
};

/// A report shows the first samples of an order, small values first; NaN: not shown.
using SampleOrder = double (*)(const SampleOutcome&);
inline constexpr std::size_t kShownSamples = 18;

double by_error(const SampleOutcome& sample);      // of numbers: the largest first
double by_mistake(const SampleOutcome& sample);    // of classes: wrong ones, by their loss
double by_certainty(const SampleOutcome& sample);  // the least certain first

/// The first kShownSamples of `samples` in an order.
template <class Sample>
std::vector<const Sample*> first_samples(std::vector<const Sample*> samples, SampleOrder order) {
  std::erase_if(samples, [&](const auto* sample) { return !std::isfinite(order(*sample)); });
  std::stable_sort(samples.begin(), samples.end(),
                   [&](const auto* a, const auto* b) { return order(*a) < order(*b); });
  if (samples.size() > kShownSamples) samples.resize(kShownSamples);
  return samples;
}

/// What a person may see of a sample.
struct ShownSample {
  std::string name;
  NamedTexts cells;  // titles and texts
  std::string png;   // in Base64; may be empty
};

struct SamplesFile {
  ScoredWeights weights = {};        // that scored them
  std::int64_t of = 0;               // samples of the split
  std::vector<std::string> classes;  // names; none where samples have numbers
  std::vector<SampleOutcome> rows;
  std::map<std::int64_t, ShownSample> shown;  // by index
};

void write_samples_json(const SamplesFile& samples, const std::string& folder);

/// Of the file's text. An Error (Exit::data) where it cannot be read.
SamplesFile samples_of_text(const std::string& text);

}  // namespace ddptrain
