#include "runs/samples_json.h"

#include "base/files/files.h"
#include "runs/json_fields.h"

namespace ddptrain {

/// A row is six numbers.
void to_json(Json& json, const SampleOutcome& sample) {
  const auto& [index, loss, truth, predicted, probability, second] = sample;
  json = Json::array({index, loss, truth, predicted, probability, second});
}

void from_json(const Json& json, SampleOutcome& sample) {
  auto& [index, loss, truth, predicted, probability, second] = sample;
  json.at(0).get_to(index);
  std::size_t at = 1;
  for (auto* number : {&loss, &truth, &predicted, &probability, &second})
    FromJson(json).read(json.at(at++), *number);
}

template <class Fields>
void fields(ShownSample& sample, Fields& f) {
  auto& [name, cells, png] = sample;
  f.added("name", name, std::string());
  f.added("cells", cells, {});
  f.unless_empty("png", png);
}

template <class Fields>
void fields(SamplesFile& samples, Fields& f) {
  auto& [weights, of, classes, rows, shown] = samples;
  f.added("weights", weights.name, std::string("last evaluation"));
  f.added("step", weights.step, std::int64_t{-1});
  f.added("of", of, std::int64_t{0});
  f.added("classes", classes, {});
  f("rows", rows);
  f.added("shown", shown, {});
}

double by_error(const SampleOutcome& sample) { return -std::abs(sample.predicted - sample.truth); }

double by_mistake(const SampleOutcome& sample) {
  return sample.predicted == sample.truth ? NAN : -sample.loss;
}

double by_certainty(const SampleOutcome& sample) { return sample.probability - sample.second; }

void write_samples_json(const SamplesFile& samples, const std::string& folder) {
  write_atomically(folder + "/" + kSamplesJson, lossy_json_text(ToJson::value(samples)) + "\n");
}

SamplesFile samples_of_text(const std::string& text) {
  return record_of<SamplesFile>(text, kSamplesJson);
}

}  // namespace ddptrain
