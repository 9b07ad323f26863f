#include "checkpoint/saving/save_plan.h"

#include <algorithm>

#include "runs/state_json.h"

namespace ddptrain {
namespace {

using PlacedTensors = std::vector<std::pair<std::int64_t, TensorEntry>>;

/// By kind, each in order.
std::vector<PlacedTensors> tensors_of(const std::vector<WriterFacts>& writers) {
  std::vector<PlacedTensors> kinds(kTensorFiles.size());
  for (const auto& writer : writers)
    for (const auto& each : writer.tensors)
      kinds[each[0].get<std::size_t>()].emplace_back(
          each[1].get<std::int64_t>(),
          TensorEntry{each[2], static_cast<c10::ScalarType>(each[3].get<int>()), each[4], 0, 0});
  for (auto& tensors : kinds)
    std::ranges::stable_sort(tensors, {}, [](const auto& tensor) { return tensor.first; });
  return kinds;
}

ManifestFile text_file(const std::string& name, const std::string& text) {
  return {name, {std::ssize(text), sha256(text)}, {}};
}

}  // namespace

WriterFacts facts_of(const CheckpointParts& parts, std::string place) {
  WriterFacts facts{std::move(place), 0, parts.state, Json::array()};
  for (std::size_t kind = 0; kind < kTensorFiles.size(); ++kind)
    for (const auto& part : parts.*kTensorFiles[kind].parts) {
      facts.bytes += static_cast<std::int64_t>(part.elements.nbytes());
      if (part.first == 0)
        facts.tensors.push_back({kind, part.place, part.name,
                                 static_cast<int>(part.elements.scalar_type()), part.shape});
    }
  return facts;
}

std::string to_text(const WriterFacts& facts) {
  return json_text(Json{facts.place, facts.bytes, facts.state, facts.tensors});
}

std::vector<WriterFacts> parse_facts(const std::vector<std::string>& texts) {
  std::vector<WriterFacts> all;
  for (const auto& text : texts) {
    auto json = parse_json(text);
    all.push_back({json[0], json[1], json[2], std::move(json[3])});
  }
  return all;
}

std::vector<PlannedFiles> plan_of(const std::vector<WriterFacts>& writers,
                                  std::int64_t largest_file) {
  const auto kinds = tensors_of(writers);
  std::vector<PlannedFiles> plan;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto& file = kTensorFiles[kind];
    if (kinds[kind].empty() && !file.always) continue;
    std::vector<TensorEntry> entries;
    for (const auto& [place, entry] : kinds[kind]) entries.push_back(entry);
    plan.push_back({&file, plan_files(file.stem, std::move(entries), largest_file)});
  }
  return plan;
}

Manifest manifest_of(const std::vector<PlannedFiles>& plan, std::int64_t step,
                     const std::string& state) {
  Manifest manifest;
  manifest.step = step;
  for (const auto& [kind, files] : plan) {
    for (const auto& file : files)
      manifest.files.push_back({file.name, planned_file(file), {}, true});
    if (files.size() > 1)
      manifest.files.push_back(text_file(index_name(kind->stem), index_text(files)));
  }
  manifest.files.push_back(text_file(kStateJson, state));
  return manifest;
}

std::int64_t bytes_of(const std::vector<PlannedFiles>& plan) {
  double bytes = 1 << 16;
  for (const auto& [kind, files] : plan)
    for (const auto& file : files)
      for (const auto& entry : file.header.entries)
        bytes +=
            static_cast<double>(bytes_of(entry)) + static_cast<double>(entry.name.size()) + 256;
  return static_cast<std::int64_t>(std::min(bytes, 0x1p62));
}

}  // namespace ddptrain
