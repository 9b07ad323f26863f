#include "checkpoint/published_names.h"

#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// The tensors that files of the network have, under its own names: of a model that has a part of
/// it, those of the part.
std::vector<NamedTensor> tensors_of_network(const Model& model) {
  const auto borrowed = model.borrowed_names();
  auto state = model.state();
  if (borrowed.empty()) return state;
  std::vector<NamedTensor> all;
  for (auto& [name, tensor] : state)
    for (const auto& [theirs, ours] : borrowed)
      if (name.starts_with(ours)) {
        all.push_back({theirs + name.substr(ours.size()), tensor});
        break;
      }
  return all;
}

std::size_t count_known(const std::vector<NamedTensor>& tensors,
                        const std::set<std::string>& names) {
  return static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(),
                    [&](const auto& named) { return names.contains(named.name); }));
}

std::set<std::string> names_in(const std::vector<NamedTensor>& tensors) {
  std::set<std::string> names;
  for (const auto& named : tensors) names.insert(named.name);
  return names;
}

/// A tensor of the network by its name there.
struct Named {
  std::string ours;
  at::Tensor live;
  FormThere form = FormThere::same;
};
using ByTheirName = std::map<std::string, Named>;

ByTheirName by_their_names(const NameTable& table, const std::vector<NamedTensor>& network) {
  ByTheirName all;
  for (const auto& [ours, tensor] : network) {
    const auto there = name_there(table, ours);
    all.emplace(there.name, Named{ours, tensor, there.form});
  }
  return all;
}

/// Renames and reshapes; what the network computes by itself is what it has.
void take_names(std::vector<NamedTensor>& tensors, const NameTable& table,
                const std::vector<NamedTensor>& network) {
  const auto known = by_their_names(table, network);
  std::erase_if(tensors, [&](const auto& named) { return is_computed(table, named.name); });
  for (auto& named : tensors) {
    const auto found = known.find(named.name);
    if (found == known.end()) continue;
    const auto& [ours, live, form] = found->second;
    named.name = ours;
    if (form != FormThere::same && named.tensor.sizes() == in_form(form, live).sizes())
      named.tensor = named.tensor.reshape(live.sizes());
  }
  for (const auto& named : network)
    if (is_computed(table, named.name)) tensors.push_back(named);
}

/// Of a file with the network's own names: what the model has no place for, since it computes it.
void drop_computed(std::vector<NamedTensor>& tensors, const std::vector<NameTable>& tables,
                   const std::vector<NamedTensor>& network) {
  const auto own = names_in(network);
  std::erase_if(tensors, [&](const NamedTensor& named) {
    return !own.contains(named.name) &&
           std::any_of(tables.begin(), tables.end(),
                       [&](const auto& table) { return is_computed(table, named.name); });
  });
}

/// The table whose names most of the tensors have; null where that is the model's own.
const NameTable* best_table(const std::vector<NamedTensor>& tensors,
                            const std::vector<NameTable>& tables, const Model& model,
                            const std::vector<NamedTensor>& network) {
  const NameTable* best = nullptr;
  auto most = std::max(count_known(tensors, names_in(model.state())),
                       count_known(tensors, names_in(network)));
  for (const auto& table : tables) {
    std::set<std::string> names;
    for (const auto& [theirs, ours] : by_their_names(table, network)) names.insert(theirs);
    if (const auto count = count_known(tensors, names); count > most) best = &table, most = count;
  }
  return best;
}

void require_same(const NameTable& table, const std::string& architecture) {
  const auto why = table.differs ? table.differs(architecture) : "";
  if (why.empty()) return;
  const auto theirs =
      name_of(table.library) + "'s " +
      (architecture.empty() ? "network of these weights" : fmt::format("'{}'", architecture));
  throw Error(Exit::data, Option{"model.weights"}, "{} is not this network: {}", theirs, why);
}

/// Places of positions [1, places, features]: of tokens, and the side of a square grid.
struct Grid {
  std::int64_t tokens = 0, side = 0;
};

Grid grid_of(const at::Tensor& positions) {
  const auto places = positions.size(1);
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(places)));
  return {places - side * side, side};
}

/// timm's resample_abs_pos_embed: positions [1, tokens + old * old, features] for a grid of
/// `side` * `side` patches, bicubic and antialiased, those of the tokens as they are.
at::Tensor resampled_positions(const at::Tensor& positions, std::int64_t tokens,
                               std::int64_t side) {
  const auto old = grid_of(positions).side;
  const auto features = positions.size(2);
  const auto map = positions.slice(1, tokens)
                       .to(at::kFloat)
                       .reshape({1, old, old, features})
                       .permute({0, 3, 1, 2});
  const auto resampled = at::_upsample_bicubic2d_aa(map, {side, side}, false)
                             .permute({0, 2, 3, 1})
                             .reshape({1, side * side, features})
                             .to(positions.scalar_type());
  return at::cat({positions.slice(1, 0, tokens), resampled}, 1);
}

/// Of two grids with as many tokens: how the positions of a file were resampled for a model's.
std::string fit_positions(at::Tensor& saved, const at::Tensor& live) {
  const bool comparable = saved.dim() == 3 && live.dim() == 3 && saved.size(0) == 1 &&
                          saved.size(2) == live.size(2) && saved.is_floating_point();
  if (!comparable || saved.sizes() == live.sizes()) return "";
  const auto there = grid_of(saved), here = grid_of(live);
  if (there.tokens != here.tokens || there.side == 0) return "";
  saved = resampled_positions(saved, there.tokens, here.side);
  const auto square = [](std::int64_t side) { return fmt::format("{} x {}", side, side); };
  return square(there.side) + " to " + square(here.side);
}

/// The name of the model's positions, by which files of the model or of the network call them.
std::set<std::string> names_of_positions(const Model& model) {
  const auto positions = model.patch_positions();
  std::set<std::string> names{positions};
  for (const auto& [theirs, ours] : model.borrowed_names())
    if (positions.starts_with(ours)) names.insert(theirs + positions.substr(ours.size()));
  return names;
}

std::string fit_positions(std::vector<NamedTensor>& tensors, const Model& model) {
  const auto positions = model.patch_positions();
  if (positions.empty()) return "";
  const auto names = names_of_positions(model);
  for (const auto& [name, live] : model.state())
    if (name == positions)
      for (auto& named : tensors)
        if (names.contains(named.name)) return fit_positions(named.tensor, live);
  return "";
}

}  // namespace

Published take_published_names(std::vector<NamedTensor>& tensors, const Model& model,
                               const std::string& last_layer, const std::string& architecture) {
  const auto network = tensors_of_network(model);
  const auto tables = model.name_tables();
  Published published;
  if (const auto* table = best_table(tensors, tables, model, network)) {
    require_same(*table, architecture);
    take_names(tensors, *table, network);
    published.from = table->library;
    published.headless = std::none_of(tensors.begin(), tensors.end(), [&](const auto& named) {
      return named.name.starts_with(last_layer + ".");
    });
  } else {
    drop_computed(tensors, tables, network);
  }
  published.positions = fit_positions(tensors, model);
  return published;
}

std::string architecture_of(const std::string& path) {
  const auto folder = fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path();
  const auto file = folder / "config.json";
  if (!fs::is_regular_file(file) || fs::file_size(file) > (1 << 20)) return "";
  const auto json = json_or_null(read_text(file.string()));
  const auto text = [](const Json& map, const char* key) {
    const bool there = map.is_object() && map.contains(key) && map[key].is_string();
    return there ? map[key].get<std::string>() : "";
  };
  const auto name = text(json, "architecture");
  const auto tag = json.is_object() ? text(json.value("pretrained_cfg", Json()), "tag") : "";
  return name.empty() || tag.empty() ? name : name + "." + tag;
}

std::string libraries_of(const Model& model) {
  std::vector<std::string> names;
  for (const auto& table : model.name_tables())
    if (std::find(names.begin(), names.end(), name_of(table.library)) == names.end())
      names.push_back(name_of(table.library));
  return join(names, " and ");
}

std::vector<NamedTensor> published_as(Library library, const std::vector<NamedTensor>& weights,
                                      const Model& model) {
  const auto tables = model.name_tables();
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [&](const auto& one) { return one.library == library; });
  if (table == tables.end() || !model.borrowed_names().empty())
    throw Error(
        Exit::recipe,
        "--names: {} has no such network{}; without --names the weights have their own names",
        name_of(library), model.borrowed_names().empty() ? "" : ", only that of its body");
  std::vector<NamedTensor> all;
  for (const auto& [ours, tensor] : weights) {
    if (is_computed(*table, ours)) continue;
    const auto there = name_there(*table, ours);
    all.push_back({there.name, in_form(there.form, tensor).contiguous()});
  }
  return all;
}

}  // namespace ddptrain
