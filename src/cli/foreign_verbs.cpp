#include "cli/foreign_verbs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "config/suggest.h"

namespace ddptrain {
namespace {

using Foreign = std::pair<std::string_view, std::string_view>;

constexpr std::array<Foreign, 48> kForeign{{{"train", "run"},
                                            {"fit", "run"},
                                            {"finetune", "run"},
                                            {"fine-tune", "run"},
                                            {"fine_tune", "run"},
                                            {"start", "run"},
                                            {"launch", "run"},
                                            {"exec", "run"},
                                            {"torchrun", "run"},
                                            {"continue", "resume"},
                                            {"restart", "resume"},
                                            {"restore", "resume"},
                                            {"evaluate", "eval"},
                                            {"evaluation", "eval"},
                                            {"score", "eval"},
                                            {"val", "eval"},
                                            {"infer", "predict"},
                                            {"inference", "predict"},
                                            {"serve", "predict"},
                                            {"classify", "predict"},
                                            {"prediction", "predict"},
                                            {"convert", "export"},
                                            {"save", "export"},
                                            {"onnx", "export"},
                                            {"check", "validate"},
                                            {"lint", "validate"},
                                            {"cfg", "show"},
                                            {"print", "show"},
                                            {"print_config", "show"},
                                            {"explain", "describe"},
                                            {"doc", "describe"},
                                            {"summary", "plan"},
                                            {"dry-run", "plan"},
                                            {"estimate-memory", "plan"},
                                            {"download", "data"},
                                            {"dataset", "data"},
                                            {"prepare", "data"},
                                            {"find-lr", "lr-find"},
                                            {"lr_find", "lr-find"},
                                            {"tune", "lr-find"},
                                            {"new", "init"},
                                            {"create", "init"},
                                            {"upgrade", "migrate"},
                                            {"env", "doctor"},
                                            {"info", "doctor"},
                                            {"collect_env", "doctor"},
                                            {"ls", "list"}}};

bool holds(const std::vector<std::string>& verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

/// The verbs, ours and others', that begin with `start`, as ours.
std::vector<std::string> beginning_with(std::string_view start,
                                        const std::vector<std::string>& verbs) {
  std::vector<std::string> found;
  const auto add = [&](std::string_view verb) {
    if (holds(verbs, verb) && !holds(found, verb)) found.emplace_back(verb);
  };
  for (const auto& verb : verbs)
    if (verb.starts_with(start)) add(verb);
  if (!found.empty()) return found;
  for (const auto& [foreign, ours] : kForeign)
    if (foreign.starts_with(start)) add(ours);
  return found;
}

}  // namespace

std::string_view verb_for(std::string_view word) {
  const auto found = std::find_if(kForeign.begin(), kForeign.end(),
                                  [&](const Foreign& foreign) { return foreign.first == word; });
  return found == kForeign.end() ? std::string_view() : found->second;
}

std::vector<std::string> meant_verbs(const std::string& word,
                                     const std::vector<std::string>& verbs) {
  const auto plain = lower(word);
  if (const auto ours = verb_for(plain); holds(verbs, ours)) return {std::string(ours)};
  auto found = beginning_with(plain, verbs);
  if (found.empty()) found = nearest_names(plain, verbs);
  if (found.empty() && plain.size() == 3) found = beginning_with(plain.substr(0, 2), verbs);
  if (found.size() > 3) found.resize(3);
  return found;
}

std::string no_such_verb(const std::string& word, const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const auto& verb : verbs) names.emplace_back(verb.name);
  return "ddptrain has no verb '" + word + "'" +
         did_you_mean(meant_verbs(word, names), "; its verbs are " + join(names, ", "));
}

}  // namespace ddptrain
