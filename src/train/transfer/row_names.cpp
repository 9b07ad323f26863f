#include "train/transfer/row_names.h"

#include <ATen/ops/arange.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/rows.h"
#include "data/dataset.h"
#include "data/prediction_form.h"
#include "models/embeddings.h"
#include "models/model.h"
#include "train/transfer/named_axes.h"

namespace ddptrain {
namespace {

constexpr const char* kMean = "mean of the old rows";
constexpr const char* kOwn = "own initialization";

std::string what_of(const NamedColumn& column) {
  return column.is_vocabulary ? "words" : fmt::format("column '{}'", column.name);
}

class Matcher {
 public:
  Matcher(std::vector<NamedTensor>& saved, const RowNames& there, const RowNames& here,
          const BuiltModel& built, const MatchOptions& options)
      : saved_(saved),
        there_(there),
        here_(here),
        model_(built.model),
        entry_(built.entry),
        options_(options) {
    for (const auto& [name, tensor] : model_.state()) live_.emplace(name, tensor);
  }

  Matched run() {
    take_embeddings_out();
    const auto features_there =
        features(there_, [&](std::size_t place) { return width_there(place); });
    match_columns();
    match_features(features_there);
    for (const auto& layer : output_layers(model_, entry_))
      if (!is_embedded(layer)) result_.output_layers.push_back(layer);
    if (options_.outputs) match_outputs();
    return std::move(result_);
  }

 private:
  using Tensors = std::map<std::string, at::Tensor>;
  using Names = std::vector<std::string>;

  at::Tensor values_of(const std::string& name) const {
    return options_.values ? options_.values(name) : live_.at(name);
  }

  // ---- embeddings

  /// Of each column there, so that it can be put under the name of another place.
  void take_embeddings_out() {
    const auto columns = std::max(there_.fitted.columns.size(), here_.fitted.columns.size());
    for (std::size_t place = 0; place < columns; ++place)
      for (const auto& name : embedding_names(entry_, place)) embedded_.insert(name);
    for (auto& [name, tensor] : saved_)
      if (embedded_.contains(name)) taken_out_.emplace(name, tensor);
    std::erase_if(saved_, [&](const auto& named) { return embedded_.contains(named.name); });
  }

  bool is_embedded(const std::string& layer) const {
    return std::any_of(embedded_.begin(), embedded_.end(),
                       [&](const auto& name) { return name.starts_with(layer + "."); });
  }

  /// The place there of the column at a place here.
  std::optional<std::size_t> counterpart(std::size_t place) const {
    const auto& there = there_.fitted.columns;
    if (!there.empty() && embeds_in_any_order(entry_)) {
      const auto& name = here_.fitted.columns[place].name;
      const auto found = std::find_if(there.begin(), there.end(),
                                      [&](const auto& column) { return column.name == name; });
      if (found == there.end()) return {};
      return static_cast<std::size_t>(found - there.begin());
    }
    if (!there.empty() && place >= there.size()) return {};
    return place;
  }

  void match_columns() {
    std::set<std::size_t> used;
    const auto& here = here_.fitted.columns;
    for (std::size_t place = 0; place < here.size(); ++place) {
      if (embedding_names(entry_, place).empty()) continue;
      const auto from = counterpart(place);
      if (from) used.insert(*from);
      match_column(place, from);
    }
    const auto& there = there_.fitted.columns;
    for (std::size_t place = 0; place < there.size(); ++place)
      if (!used.contains(place) && !embedding_names(entry_, place).empty())
        drop_column(there[place], embedding_names(entry_, place));
  }

  void drop_column(const NamedColumn& column, const Names& tensors) {
    TransferGroup group{.what = what_of(column), .tensors = tensors};
    group.dropped = std::ssize(column.values);
    group.note = "no such column here";
    result_.groups.push_back(std::move(group));
  }

  void match_column(std::size_t place, std::optional<std::size_t> from) {
    const auto& column = here_.fitted.columns[place];
    TransferGroup group{.what = what_of(column)};
    for (const auto& name : embedding_names(entry_, place))
      if (live_.contains(name)) group.tensors.push_back(name);
    const auto* names = from && *from < there_.fitted.columns.size()
                            ? &there_.fitted.columns[*from].values
                            : nullptr;
    if (!from)
      initialize(group, column, "the file has no such column");
    else if (names == nullptr || names->empty())
      take_row_by_row(group, column);
    else
      match_values(group, column, *names, embedding_names(entry_, *from));
    result_.groups.push_back(std::move(group));
  }

  void initialize(TransferGroup& group, const NamedColumn& column, const std::string& why) {
    group.initialized = std::ssize(column.values);
    group.how = kOwn;
    group.note = why;
    result_.absent.insert(result_.absent.end(), group.tensors.begin(), group.tensors.end());
  }

  void take_row_by_row(TransferGroup& group, const NamedColumn& column) {
    const std::string what = column.is_vocabulary ? "words" : "categories";
    for (const auto& name : group.tensors) {
      const auto found = taken_out_.find(name);
      if (found == taken_out_.end()) continue;
      saved_.push_back({name, found->second});
      const auto rows = live_.at(name).size(0), saved_rows = found->second.size(0);
      if (rows == saved_rows) {
        group.copied = std::ssize(column.values);
        group.note = "row by row: the file names no " + what;
      } else {
        group.initialized = std::ssize(column.values);
        group.how = kOwn;
        group.note = "the file has " + plural(saved_rows, "row") + " and names no " + what;
        if (!result_.hint.empty()) continue;
        result_.hint = fmt::format(
            "'{}' has a row for each of the {}, and the file does not name its own{}", name, what,
            column.is_vocabulary ? ": write the file that lists them in 'model.weights.words'"
                                 : "");
      }
    }
  }

  void match_values(TransferGroup& group, const NamedColumn& column, const Names& names,
                    const Names& tensors_there) {
    const auto match = match_names(names, column.values);
    const auto tensors_here = group.tensors;
    for (std::size_t i = 0; i < tensors_here.size(); ++i) {
      const auto& own = live_.at(tensors_here[i]);
      const auto saved = saved_rows(tensors_there.at(i), own, names);
      if (!saved.defined()) continue;
      if (saved.dim() != own.dim() || saved.sizes().slice(1) != own.sizes().slice(1))
        return initialize(
            group, column,
            fmt::format("embeddings are {} there and {} here", shape_text(saved), shape_text(own)));
      note_further_rows(group, saved.size(0) - std::ssize(names),
                        own.size(0) - std::ssize(column.values));
      saved_.push_back({tensors_here[i],
                        matched(saved, values_of(tensors_here[i]), 0, match, FreshPlaces::mean)});
    }
    count(group, match);
    group.how = kMean;
  }

  /// Undefined where the file lacks it. Codes of words that it lacks are their numbers there.
  at::Tensor saved_rows(const std::string& name, const at::Tensor& own, const Names& names) const {
    const auto found = taken_out_.find(name);
    if (found == taken_out_.end()) {
      if (own.is_floating_point()) return {};
      return at::arange(std::ssize(names), at::kLong).unsqueeze(1);
    }
    const auto& saved = found->second;
    if (saved.dim() == 0 || saved.size(0) < std::ssize(names))
      throw Error(Exit::data,
                  "model.weights: {} names for the rows of '{}', which is {}: they are those of "
                  "another file",
                  names.size(), name, shape_text(saved));
    return saved;
  }

  static void note_further_rows(TransferGroup& group, std::int64_t there, std::int64_t here) {
    if (here == 0 && there == 0) return;
    group.note = fmt::format(
        "the {} of n-grams behind them {}{}", plural(here, "row"), here == 1 ? "is " : "are ",
        there == here ? "copied" : fmt::format("re-initialized, since the file has {}", there));
  }

  static void count(TransferGroup& group, const NameMatch& match) {
    group.copied = match.copied;
    group.moved = match.moved;
    group.initialized = match.fresh;
    group.dropped = match.dropped;
    group.fresh_names = match.fresh_names;
    group.dropped_names = match.dropped_names;
  }

  // ---- what a row of a table becomes

  std::int64_t width_there(std::size_t place) const {
    const auto names = embedding_names(entry_, place);
    const auto found = names.empty() ? taken_out_.end() : taken_out_.find(names[0]);
    return found == taken_out_.end() || found->second.dim() != 2 ? 0 : found->second.size(1);
  }
  std::int64_t width_here(std::size_t place) const {
    const auto found = live_.find(embedding_names(entry_, place).front());
    return found == live_.end() ? 0 : found->second.size(1);
  }

  struct Features {
    Names all, numbers;
    bool operator==(const Features&) const = default;
  };

  /// A name for each feature. An embedding of another width has other features.
  template <class Width>
  Features features(const RowNames& names, const Width& width_of) const {
    Features found;
    if (!trait_argument(entry_, "features")) return found;
    const bool any_order = embeds_in_any_order(entry_);
    for (std::size_t place = 0; place < names.fitted.columns.size(); ++place) {
      const auto width = width_of(place);
      const auto name = any_order ? names.fitted.columns[place].name : std::to_string(place);
      for (std::int64_t i = 0; i < width; ++i)
        found.all.push_back(name + '\0' + std::to_string(width) + '\0' + std::to_string(i));
    }
    for (const auto& number : names.fitted.numbers) found.numbers.push_back(number);
    found.all.insert(found.all.end(), found.numbers.begin(), found.numbers.end());
    return found;
  }

  void match_features(const Features& there) {
    const auto here = features(here_, [&](std::size_t place) { return width_here(place); });
    if (there.all.empty() || there == here) return;
    const auto all = match_names(there.all, here.all);
    const auto numbers = match_names(there.numbers, here.numbers);
    TransferGroup group{.what = "inputs of the first layer", .how = kOwn};
    for (const auto& axis :
         feature_axes(model_, entry_, {std::ssize(here.all), std::ssize(here.numbers)})) {
      const auto& own = live_.at(axis.tensor);
      auto* saved = find(axis.tensor);
      const auto places = std::ssize(axis.numbers_alone ? there.numbers : there.all);
      if (saved == nullptr || !differ_along(*saved, own, axis.dim, places)) continue;
      *saved = matched(*saved, values_of(axis.tensor), axis.dim, axis.numbers_alone ? numbers : all,
                       FreshPlaces::own);
      group.tensors.push_back(axis.tensor);
    }
    if (group.tensors.empty()) return;
    count(group, all);
    group.fresh_names.clear();
    group.dropped_names.clear();
    result_.groups.push_back(std::move(group));
  }

  at::Tensor* find(const std::string& name) {
    for (auto& named : saved_)
      if (named.name == name) return &named.tensor;
    return nullptr;
  }

  /// Equal but for dimension `dim`, which has `places` in `saved`.
  static bool differ_along(const at::Tensor& saved, const at::Tensor& own, std::int64_t dim,
                           std::int64_t places) {
    if (saved.dim() != own.dim() || saved.dim() <= dim || saved.size(dim) != places) return false;
    for (std::int64_t i = 0; i < saved.dim(); ++i)
      if (i != dim && saved.size(i) != own.size(i)) return false;
    return true;
  }

  // ---- outputs

  bool is_output(const std::string& name) const {
    const auto& layers = result_.output_layers;
    return std::any_of(layers.begin(), layers.end(),
                       [&](const auto& layer) { return name.starts_with(layer + "."); });
  }

  void match_outputs() {
    TransferGroup group{.what = here_.outputs.empty() ? "outputs" : here_.kind_of_outputs};
    std::int64_t rows = 0, saved_rows = 0;
    for (const auto& [name, tensor] : live_)
      if (is_output(name) && tensor.dim() > 0) {
        group.tensors.push_back(name);
        rows = tensor.size(0);
        if (const auto* saved = find(name); saved != nullptr && saved->dim() > 0)
          saved_rows = saved->size(0);
      }
    if (saved_rows == 0) return;
    if (there_.outputs.empty() || here_.outputs.empty() || there_.outputs == here_.outputs) {
      take_outputs_as_they_are(group, rows == saved_rows ? rows : 0);
    } else {
      const auto match = match_names(there_.outputs, here_.outputs);
      const bool a_row_each =
          saved_rows == std::ssize(there_.outputs) && rows == std::ssize(here_.outputs);
      count(group, match);
      if (a_row_each && match.copied + match.moved > 0)
        move_outputs(group, match);
      else
        initialize_outputs(group, a_row_each);
    }
    result_.groups.push_back(std::move(group));
  }

  /// Without rows their shape differs, which is reported where they are copied.
  void take_outputs_as_they_are(TransferGroup& group, std::int64_t rows) const {
    group.copied = rows;
    if (rows > 0 && there_.outputs != here_.outputs)
      group.note = fmt::format("row by row: {}{}",
                               there_.outputs.empty() ? "the file names no " : "the data name no ",
                               group.what == "outputs" ? there_.kind_of_outputs : group.what);
  }

  void move_outputs(TransferGroup& group, const NameMatch& match) {
    group.how = kMean;
    for (const auto& name : group.tensors)
      if (auto* saved = find(name); saved != nullptr)
        *saved = matched(*saved, values_of(name), 0, match, FreshPlaces::mean);
  }

  void initialize_outputs(TransferGroup& group, bool a_row_each) {
    group.initialized = std::ssize(here_.outputs);
    group.dropped = std::ssize(there_.outputs);
    group.copied = group.moved = 0;
    group.how = kOwn;
    group.note = fmt::format("the last layer '{}' is re-initialized, its {} are others{}",
                             join(result_.output_layers, "', '"), group.what,
                             a_row_each ? "" : " and have no row each");
    std::erase_if(saved_, [&](const auto& named) { return is_output(named.name); });
    for (const auto& layer : result_.output_layers) result_.absent.push_back(layer);
  }

  std::vector<NamedTensor>& saved_;
  const RowNames& there_;
  const RowNames& here_;
  Model& model_;
  const EntryBase& entry_;
  const MatchOptions& options_;
  std::map<std::string, at::Tensor> live_;  // for their shapes
  std::set<std::string> embedded_;          // names of all tensors with rows of a column
  std::map<std::string, at::Tensor> taken_out_;
  Matched result_;
};

}  // namespace

std::vector<std::string> target_names(const Dataset& data) {
  const auto& facts = data.facts();
  if (facts.numbers == 0 && facts.points == 0) return {};
  if (const auto* form = data.prediction_form()) return form->columns();
  return fitted_names(data.state()).targets;
}

RowNames row_names(const Dataset& data) {
  RowNames names{fitted_names(data.state()), data.facts().classes};
  if (!names.outputs.empty()) return names;
  names.outputs = target_names(data);
  if (!names.outputs.empty()) names.kind_of_outputs = "targets";
  return names;
}

RowNames row_names(const SavedNames& saved) {
  RowNames names{fitted_names(saved.fitted), saved.classes};
  if (!names.outputs.empty()) return names;
  names.outputs = saved.targets.empty() ? names.fitted.targets : saved.targets;
  if (!names.outputs.empty()) names.kind_of_outputs = "targets";
  return names;
}

Matched match_rows_by_name(std::vector<NamedTensor>& saved, const RowNames& there,
                           const RowNames& here, const BuiltModel& built,
                           const MatchOptions& options) {
  return Matcher(saved, there, here, built, options).run();
}

}  // namespace ddptrain
