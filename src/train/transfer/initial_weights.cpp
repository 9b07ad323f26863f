#include "train/transfer/initial_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files/mapping_guard.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/published_names.h"
#include "checkpoint/weights.h"
#include "checkpoint/words_file.h"
#include "config/decode.h"
#include "data/dataset.h"
#include "distributed/engine.h"
#include "models/model.h"
#include "models/stored_state.h"
#include "recipe/model_section.h"
#include "train/training.h"
#include "train/transfer/named_axes.h"
#include "train/transfer/row_names.h"

namespace ddptrain {
namespace {

std::size_t known(const std::vector<NamedTensor>& tensors, const std::vector<NamedTensor>& live) {
  std::set<std::string> names;
  for (const auto& named : live) names.insert(named.name);
  return static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(),
                    [&](const auto& named) { return names.contains(named.name); }));
}

/// Whether a file is of the network that a part of the model was taken from: then more of its names
/// are the model's after they are translated.
bool are_of_another(std::vector<NamedTensor> tensors, const Model& model) {
  const auto live = model.state();
  const auto before = known(tensors, live);
  rename(tensors, model.borrowed_names());
  return known(tensors, live) > before;
}

/// Translates the names, and leaves out what the model has no place for: the other network's head.
/// Returns how many those are.
std::int64_t take_borrowed(std::vector<NamedTensor>& tensors, const Model& model) {
  const auto all = std::ssize(tensors);
  const auto names = model.borrowed_names();
  std::erase_if(tensors, [&](const NamedTensor& named) {
    return std::none_of(names.begin(), names.end(),
                        [&](const auto& rule) { return named.name.starts_with(rule.first); });
  });
  rename(tensors, names);
  return all - std::ssize(tensors);
}

std::string quoted_list(std::vector<std::string> names) {
  for (auto& name : names) name = fmt::format("'{}'", name);
  if (names.size() > 3) names.resize(3), names.emplace_back("...");
  return join(names, ", ");
}

const EntryBase& entry_of(const Training& t) {
  return *catalog<Model>().find(t.recipe.model.type());
}

/// Names of tensors are for where they are few.
constexpr std::int64_t kFewTensors = 8;

/// Of the file's tensors without names of rows, and what the model initializes by itself.
TransferGroup remaining_tensors(const WeightsFit& fit, const std::vector<TransferGroup>& groups,
                                const Model& model) {
  std::set<std::string> grouped, taken(fit.taken.begin(), fit.taken.end());
  for (const auto& group : groups) grouped.insert(group.tensors.begin(), group.tensors.end());
  TransferGroup rest{.what = "tensors"};
  for (const auto& [name, tensor] : without_aliases(model.state())) {
    if (grouped.contains(name)) continue;
    if (taken.contains(name))
      ++rest.copied;
    else if (!name.ends_with("num_batches_tracked"))
      rest.fresh_names.push_back(name);
  }
  rest.initialized = std::ssize(rest.fresh_names);
  rest.how = rest.initialized > 0 ? "own initialization" : "";
  if (rest.initialized > kFewTensors) rest.fresh_names.clear();
  return rest;
}

/// The last layer where its shape differs, which is known only once it was to be copied.
void note_replaced(std::vector<TransferGroup>& groups, const WeightsFit& fit, const Model& model) {
  if (fit.replaced.empty()) return;
  for (auto& group : groups)
    for (const auto& tensor : group.tensors) {
      if (fmt::format("'{}'", tensor) != fit.replaced.front()) continue;
      for (const auto& [name, live] : model.state())
        if (name == tensor && live.dim() > 0) group.initialized = live.size(0);
      group.copied = group.moved = 0;
      group.how = "own initialization";
      group.note =
          "the last layer is re-initialized, its shape differs there: " + join(fit.replaced, ", ");
    }
}

std::string names_or_none(const std::vector<std::string>& names) {
  return names.empty() ? "none" : few_names(names);
}

SavedWeights read_renamed(const WeightsSpec& spec) {
  auto saved = read_saved_weights(spec.file, spec.allow_calls ? Calls::left_out : Calls::refused);
  rename(saved.tensors, spec.remap);
  drop_raw_copies(saved.tensors);
  return saved;
}

std::vector<std::string> joined_lists(std::initializer_list<std::vector<std::string>> lists) {
  std::vector<std::string> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

RowNames names_there(const SavedWeights& saved, const WeightsSpec& spec) {
  auto names = row_names(saved.names);
  if (spec.words) {
    names.fitted.columns = {{"", read_words(*spec.words), true}};
    names.fitted.tokenizer = {};
  }
  return names;
}

Published take_logged_names(std::vector<NamedTensor>& tensors, const Model& model,
                            const std::vector<std::string>& last, const WeightsSpec& spec) {
  auto published = take_published_names(tensors, model, last.empty() ? "" : last.back(),
                                        architecture_of(spec.file));
  join_aliases(tensors, model.state());
  if (published.from) log::info("the weights have the names of {}", name_of(*published.from));
  if (!published.positions.empty())
    log::info("positions are resampled from {} patches", published.positions);
  return published;
}

/// All ranks call it together.
Matched match_rows(Training& t, std::vector<NamedTensor>& saved, const RowNames& there,
                   const RowNames& here, bool outputs) {
  const auto values = [&](const std::string& name) { return t.engine->whole(name); };
  return match_rows_by_name(saved, there, here, {t.engine->model(), entry_of(t)},
                            {outputs, values});
}

void assign(Engine& engine, const WeightsFit& fit) {
  engine.assign(fit.values);
  check_mapped_files();
  engine.parameters_changed();
}

std::string tried_names(const Model& model) {
  const auto libraries = libraries_of(model);
  return libraries.empty() ? "" : fmt::format("; the names of {} were tried", libraries);
}

void check_fit(const WeightsFit& fit, const WeightsSpec& spec, const Matched& matched,
               const Model& model) {
  const auto problem = misfit(fit);
  const auto where = fmt::format("model.weights: '{}' ", spec.file);
  const auto hint = matched.hint.empty() ? "" : "; " + matched.hint;
  if (fit.taken.empty())
    throw Error(Exit::data, "{}has no tensor that fits: {}{}{}", where, problem, tried_names(model),
                hint);
  if (problem.empty()) return;
  if (spec.strict)
    throw Error(Exit::data,
                "{}does not fit: {}{}; 'remap' renames, and 'strict: false' takes what fits", where,
                problem, hint);
  log::warning("{}fits in part: {}{}", where, problem, hint);
}

void log_transfer(const Transfer& transfer, std::size_t tensors) {
  log::info("weights: {} of {}", plural(static_cast<std::int64_t>(tensors), "tensor"),
            transfer.file);
  for (const auto& line : to_lines(transfer)) log::info(line);
  for (const auto& warning : transfer.warnings) log::warning("weights: {}", warning);
}

std::string note_of_own(const std::vector<std::string>& parts) {
  return fmt::format("{}, which such a file does not have, {} re-initialized", quoted_list(parts),
                     parts.size() == 1 ? "is" : "are");
}

}  // namespace

std::optional<Transfer> start_from_weights(Training& t) {
  const auto section = decode<ModelSection>(t.recipe.model.node());
  if (!section.weights) return {};
  const auto& spec = *section.weights;
  auto saved = read_renamed(spec);
  auto& tensors = saved.tensors;
  auto& model = t.engine->model();
  const auto last = output_layers(model, entry_of(t));
  const auto published = take_logged_names(tensors, model, last, spec);
  const bool borrowed = are_of_another(tensors, model);
  const auto left_out = borrowed ? take_borrowed(tensors, model) : 0;
  const auto there = names_there(saved, spec), here = row_names(*t.data);
  auto matched = match_rows(t, tensors, there, here, !borrowed);
  join_aliases(tensors, model.state());  // of names that were borrowed
  const auto own = borrowed ? model.own_parts() : std::vector<std::string>();
  const auto headless = !borrowed && published.headless ? last : std::vector<std::string>();
  const auto absent = joined_lists({matched.absent, own, headless});
  const auto fit =
      fit_weights(tensors, without_aliases(model.state()), matched.output_layers, absent);
  assign(*t.engine, fit);
  check_fit(fit, spec, matched, model);
  Transfer transfer{spec.file, std::move(matched.groups), tokenizer_warnings(there, here)};
  note_replaced(transfer.groups, fit, model);
  auto rest = remaining_tensors(fit, transfer.groups, model);
  rest.dropped = left_out + std::ssize(fit.unexpected);
  if (borrowed) rest.note = note_of_own(own);
  if (rest.copied + rest.initialized + rest.dropped > 0) transfer.groups.push_back(std::move(rest));
  log_transfer(transfer, fit.taken.size());
  return transfer;
}

void take_all_weights(Training& t, const std::string& file, Calls calls,
                      const std::string& option) {
  auto& model = t.engine->model();
  auto saved = read_saved_weights(file, calls);
  const auto last = output_layers(model, entry_of(t));
  take_published_names(saved.tensors, model, last.empty() ? "" : last.back(),
                       architecture_of(file));
  join_aliases(saved.tensors, model.state());
  const auto there = row_names(saved.names), here = row_names(*t.data);
  const auto matched = match_rows(t, saved.tensors, there, here, true);
  for (const auto& group : matched.groups)
    if (group.initialized > 0 || (group.dropped > 0 && group.what == here.kind_of_outputs))
      throw Error(Exit::data, "{}: '{}' is of other {}: only there {}, only here {}", option, file,
                  group.what, names_or_none(group.dropped_names), names_or_none(group.fresh_names));
  const auto fit = fit_weights(saved.tensors, without_aliases(model.state()), {});
  assign(*t.engine, fit);
  const auto problem = misfit(fit);
  if (!problem.empty()) throw Error(Exit::data, "{}: '{}' does not fit: {}", option, file, problem);
}

void write_transfer_file(const Transfer& transfer, const std::string& folder) {
  try {
    write_transfer_json(transfer, folder);
  } catch (const std::exception& error) {
    log::warning("no {} was written: {}", kTransferJson, error.what());
  }
}

}  // namespace ddptrain
