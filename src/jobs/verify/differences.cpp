#include "jobs/verify/differences.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/norm.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>

#include "base/files/files.h"
#include "base/json.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "jobs/verify/short_run.h"
#include "launch/in_child.h"
#include "runs/state_json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Two NaN, of losses that are not finite or unmeasured norms, are the same.
double relative(double value, double reference) {
  if (same_bits(value, reference) || (std::isnan(value) && std::isnan(reference))) return 0;
  const double difference = std::abs(value - reference) /
                            std::max(std::abs(reference), std::numeric_limits<double>::min());
  return std::isnan(difference) ? kInfinite : difference;
}

/// Notes a distance at a place; places come in their order.
void note(Difference& difference, double value, double allowed, const std::string& place) {
  difference.largest = std::max(difference.largest, value);
  if (value <= allowed) return;
  difference.beyond = true;
  if (difference.first.empty()) difference.first = place;
}

bool is_statistic(const std::string& name) {
  return name.ends_with("running_mean") || name.ends_with("running_var") ||
         name.ends_with("num_batches_tracked");
}

/// torch.nn.utils.spectral_norm's singular vectors.
bool is_iteration(const std::string& name) {
  return name.ends_with("weight_u") || name.ends_with("weight_v");
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const auto mine = a.contiguous(), other = b.contiguous();
  return mine.nbytes() == other.nbytes() &&
         std::memcmp(mine.const_data_ptr(), other.const_data_ptr(), mine.nbytes()) == 0;
}

bool same_form(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
}

double length(const at::Tensor& tensor) {
  return tensor.numel() == 0 ? 0 : tensor.to(at::kDouble).norm().item<double>();
}

/// Euclidean; infinite where one is not a number at another place or of another form.
double distance(const at::Tensor& a, const at::Tensor& b) {
  if (!same_form(a, b)) return kInfinite;
  if (same_bits(a, b)) return 0;
  const double difference = length(a.to(at::kDouble) - b.to(at::kDouble));
  return std::isnan(difference) ? kInfinite : difference;
}

/// One kind of tensors of two checkpoints, as pairs in the model's order.
struct Pairs {
  std::string what;
  std::vector<std::string> names;
  std::vector<at::Tensor> references, others;
};

/// Splits the numbers of one file of a checkpoint.
void pair_up(std::vector<Pairs>& kinds, const std::vector<NamedTensor>& reference,
             const std::vector<NamedTensor>& other,
             const std::function<std::string(const std::string&)>& kind_of) {
  std::map<std::string, at::Tensor> others;
  for (const auto& [name, tensor] : other) others.emplace(name, tensor);
  std::map<std::string, Pairs> found;
  for (const auto& [name, tensor] : reference) {
    auto& pairs = found[kind_of(name)];
    pairs.names.push_back(name);
    pairs.references.push_back(tensor);
    pairs.others.push_back(others.contains(name) ? others.at(name) : at::Tensor());
  }
  for (auto& [kind, pairs] : found) {
    pairs.what = kind;
    kinds.push_back(std::move(pairs));
  }
}

Difference difference_of(const Pairs& pairs, double allowed) {
  Difference difference{pairs.what, 0, false, ""};
  std::vector<double> distances;
  double size = 0, all = 0;
  for (std::size_t i = 0; i < pairs.names.size(); ++i) {
    const auto& reference = pairs.references[i];
    distances.push_back(pairs.others[i].defined() ? distance(pairs.others[i], reference)
                                                  : kInfinite);
    size = std::hypot(size, length(reference));
    all = std::hypot(all, distances.back());
  }
  const double unit = std::max(size, std::numeric_limits<double>::min());
  difference.largest = all == 0 ? 0 : all / unit;
  const double share = allowed * unit / std::sqrt(static_cast<double>(distances.size()));
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const bool differs = allowed == 0 ? !pairs.others[i].defined() ||
                                            !same_bits(pairs.others[i], pairs.references[i])
                                      : distances[i] > share;
    if (differs && difference.first.empty()) difference.first = fmt::format("'{}'", pairs.names[i]);
  }
  difference.beyond = allowed == 0 ? !difference.first.empty() : !(difference.largest <= allowed);
  if (!difference.beyond) difference.first.clear();
  return difference;
}

Differences compare_checkpoints(const Checkpoint& reference, const Checkpoint& other,
                                double allowed) {
  std::vector<Pairs> kinds;
  pair_up(kinds, reference.model, other.model, [](const std::string& name) {
    return is_statistic(name) || is_iteration(name) ? kBuffers : "weights";
  });
  std::swap(kinds.front(), kinds.back());  // weights first
  const auto all_as = [&](const char* what, const auto& mine, const auto& theirs) {
    pair_up(kinds, mine, theirs, [&](const std::string&) { return std::string(what); });
  };
  all_as("optimizer state", reference.optimizer, other.optimizer);
  all_as("averaged weights", reference.ema, other.ema);
  all_as("gradient compression", reference.reduction, other.reduction);
  all_as("states of streams", reference.carried, other.carried);
  Differences found;
  for (const auto& pairs : kinds) found.push_back(difference_of(pairs, allowed));
  if (allowed == 0)
    found.push_back({"position and state", 0, reference.state != other.state,
                     reference.state == other.state ? "" : kStateJson});
  return found;
}

/// JSON has no infinite number: null stands for it.
std::string to_text(const Differences& differences) {
  auto json = Json::array();
  for (const auto& each : differences)
    json.push_back({each.what, each.largest, each.beyond, each.first});
  return lossy_json_text(json);
}

Differences differences_from(const std::string& text) {
  Differences differences;
  for (const auto& each : parse_json(text))
    differences.push_back(
        {each[0], each[1].is_null() ? kInfinite : each[1].get<double>(), each[2], each[3]});
  return differences;
}

std::vector<std::pair<std::string, std::string>> scores_in(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> scores;
  for (const auto& line : split(read_text(folder + "/scores.txt"), '\n'))
    if (const auto at = line.rfind(' '); at != std::string::npos)
      scores.emplace_back(line.substr(0, at), line.substr(at + 1));
  return scores;
}

std::map<std::string, std::string> tables_in(const std::string& folder) {
  std::map<std::string, std::string> tables;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".csv")
      tables[entry.path().filename()] = read_text(entry.path());
  return tables;
}

}  // namespace

Differences step_differences(const std::string& reference, const std::string& other,
                             double allowed) {
  std::map<std::int64_t, TracedStep> steps;
  for (const auto& step : traced_steps(reference)) steps[step.step] = step;
  Difference losses{"losses", 0, false, ""}, norms{"gradient norms", 0, false, ""};
  bool any = false;
  for (const auto& step : traced_steps(other)) {
    const auto found = steps.find(step.step);
    if (found == steps.end()) continue;
    any = true;
    const auto place = fmt::format("step {}", step.step);
    note(losses, relative(step.loss, found->second.loss), allowed, place);
    note(norms, relative(step.gradient_norm, found->second.gradient_norm), allowed, place);
  }
  if (!any) note(losses, kInfinite, allowed, "no step was made by both");
  return {losses, norms};
}

Differences checkpoint_differences(const std::string& reference, const std::string& other,
                                   double allowed) {
  return differences_from(in_child([&] {
    return to_text(compare_checkpoints(load_checkpoint(checkpoint_in(reference)),
                                       load_checkpoint(checkpoint_in(other)), allowed));
  }));
}

Differences score_differences(const std::string& reference, const std::string& other) {
  Difference scores{"metrics", 0, false, ""}, tables{"tables", 0, false, ""};
  const auto expected = scores_in(reference), found = scores_in(other);
  for (std::size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    if (i >= found.size() || i >= expected.size() || found[i].first != expected[i].first) {
      note(scores, kInfinite, 0, "which metrics there are");
      break;
    }
    if (found[i].second == expected[i].second) continue;  // the shortest text of the same bits
    const auto value = parse_number(found[i].second), is = parse_number(expected[i].second);
    note(scores, value && is ? relative(*value, *is) : kInfinite, 0, "'" + found[i].first + "'");
  }
  const auto mine = tables_in(other);
  for (const auto& [name, text] : tables_in(reference))
    if (!mine.contains(name) || mine.at(name) != text) note(tables, kInfinite, 0, name);
  return {scores, tables};
}

BuffersOfPasses buffers_of_passes(const std::string& folder) {
  const auto found = in_child([&] {
    const auto checkpoint = map_checkpoint(checkpoint_in(folder));
    std::string kinds;
    for (const auto& [name, tensor] : checkpoint.model)
      kinds += is_statistic(name) ? "s" : is_iteration(name) ? "i" : "";
    return kinds;
  });
  return {found.find('s') != std::string::npos, found.find('i') != std::string::npos};
}

}  // namespace ddptrain
