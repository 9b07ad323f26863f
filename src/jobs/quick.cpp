#include "jobs/quick.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files/files.h"
#include "base/quoting.h"
#include "base/text.h"
#include "config/catalog.h"
#include "recipe/eval_splits.h"
#include "recipe/layers/nested.h"
#include "recipe/targets.h"
#include "sources/synthetic/scenes.h"
#include "sources/synthetic/shapes.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

constexpr int kRows = 60;

std::vector<std::string> names(const Node& options, const char* key, const std::string& otherwise) {
  const auto* list = options.find(key);
  if (!list || !list->is_list()) return {otherwise};
  std::vector<std::string> all;
  for (const auto& item : list->items) all.push_back(item.text);
  return all;
}

/// The classes of a target, or a number for a regression.
std::string target_of(int row, bool regression) {
  if (regression) return format_number(10.0 * row + 0.5);
  return row % 2 == 0 ? "no" : "yes";
}

std::string sentence(int seed, bool good) {
  constexpr std::array<const char*, 6> things{"film", "story", "music", "cast", "scene", "end"};
  std::string text = "the";
  for (int i = 0; i < 3 + seed % 7; ++i)
    text += std::string(" ") + things.at(static_cast<std::size_t>(seed + i) % things.size()) +
            (good ? " was great and the" : " was awful and the");
  return text + " rest too .\n";
}

std::vector<std::string> target_names(const Node& options) {
  const auto& target = *options.find("target");
  if (!target.is_map()) return names(options, "target", target.text);
  const auto* column = target.find("column");
  return names(target, "columns", column ? column->text : "target");
}

/// A CSV file with the columns that a csv_table's options name; the targets follow from each of
/// the others. Returns its path.
std::string make_rows(const Node& options, const std::string& folder, bool regression) {
  const auto words = names(options, "categories", "kind");
  const auto numbers = names(options, "continuous", "size");
  std::string csv;
  for (const auto& name : words) csv += csv_cell(name) + ",";
  for (const auto& name : numbers) csv += csv_cell(name) + ",";
  const auto targets = target_names(options);
  std::string header;
  for (const auto& name : targets) header += (header.empty() ? "" : ",") + csv_cell(name);
  csv += header + "\n";
  for (int row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < words.size(); ++i)
      csv += std::string(1, static_cast<char>('a' + row % (2 + static_cast<int>(i) % 3))) + ",";
    for (std::size_t i = 0; i < numbers.size(); ++i)
      csv += format_number(row + 0.25 * static_cast<double>(i)) + ",";
    for (std::size_t i = 0; i < targets.size(); ++i)
      csv += (i > 0 ? "," : "") + target_of(row + static_cast<int>(i), regression);
    csv += "\n";
  }
  make_folders(folder);
  write_atomically(folder + "/rows.csv", csv);
  return folder + "/rows.csv";
}

/// train/ and val/, each with the classes neg and pos: twelve and four files of a sentence or more.
void make_texts(const std::string& folder) {
  for (const auto& [split, count] : {std::pair("train", 12), std::pair("val", 4)})
    for (const bool good : {false, true}) {
      const auto home = folder + "/" + split + (good ? "/pos" : "/neg");
      make_folders(home);
      for (int i = 0; i < count; ++i)
        write_atomically(fmt::format("{}/{}.txt", home, i), sentence(i, good));
    }
}

/// texts.csv: sentences, each with a number that is larger where they are good. Returns its path.
std::string make_numbered_texts(const std::string& folder) {
  std::string csv = "text,label\n";
  for (int row = 0; row < kRows; ++row) {
    auto text = sentence(row, row % 2 == 0);
    text.pop_back();  // the line break
    csv += fmt::format("{},{}\n", csv_cell(text), target_of(row % 2 == 0 ? 10 + row : row, true));
  }
  make_folders(folder);
  write_atomically(folder + "/texts.csv", csv);
  return folder + "/texts.csv";
}

constexpr const char* kLength = "2 steps";
constexpr int kBatch = 8;

Node word(const std::string& text) { return Node::scalar(text); }

Node map_of(const std::vector<std::pair<std::string, Node>>& members) {
  Node map = Node::map();
  for (const auto& [key, value] : members) map.set(key, value);
  return map;
}

void remove(Node& map, std::string_view key) {
  std::erase_if(map.members, [&](const Member& member) { return member.key == key; });
}

/// What the recipe says of `keys`, behind what is given.
Node with(Node given, const Node& own, const std::vector<std::string>& keys) {
  for (const auto& key : keys)
    if (const auto* value = own.find(key)) given.set(key, *value);
  return given;
}

/// The images of such files are of one size and color; these are like them.
void prepend_shape(Node& data, const std::string& size, bool gray) {
  auto* transforms = data.find("transforms");
  if (!transforms) return;
  for (auto& split : transforms->members) {
    auto& items = split.value.items;
    if (gray) items.insert(items.begin(), word("to_grayscale"));
    items.insert(items.begin(), map_of({{"type", word("resize")}, {"size", word(size)}}));
  }
}

/// `pixels` are the size of images that are all alike, "28 gray"; empty: any.
Node images(const Node& own, const std::string& pixels, const std::string& folder) {
  make_shapes(folder, {.train = 4, .val = 1});
  Node data = with(map_of({{"type", word("image_folder")},
                           {"root", Node::quoted_text(folder)},
                           {"train", word("train")},
                           {"valid", word("val")}}),
                   own, {"transforms", "decode", "sampler", "mix", "loader"});
  if (auto* transforms = data.find("transforms")) remove(*transforms, "progressive");
  if (auto* sampler = data.find("sampler")) remove(*sampler, "window");  // of shards
  if (!pixels.empty()) {
    if (!data.find("transforms"))
      data.set("transforms", map_of({{"train", Node::list()}, {"valid", Node::list()}}));
    const auto words = split(pixels, ' ');
    prepend_shape(data, words.front(), words.back() == "gray");
  }
  return data;
}

constexpr ScenesOptions kFewScenes{.seed = 1, .train = 40, .val = 4, .size = 64};

/// What the recipe says of images, without smaller ones at first.
Node image_options(const Node& own, Node given) {
  Node data = with(std::move(given), own, {"transforms", "decode", "sampler", "loader"});
  if (auto* transforms = data.find("transforms")) remove(*transforms, "progressive");
  return data;
}

Node masks(const Node& own, const std::string& folder) {
  make_masks(folder, kFewScenes);
  return image_options(own, map_of({{"type", word("image_masks")},
                                    {"root", Node::quoted_text(folder)},
                                    {"codes", word("codes.txt")},
                                    {"void", Node::list({Node::quoted_text("255")})},
                                    {"valid", word("images/val")}}));
}

/// Images with one point where the recipe's have one, else with two.
Node points(const Node& own, const std::string& folder) {
  make_points(folder, kFewScenes);
  Node data =
      map_of({{"type", word("image_points")}, {"file", Node::quoted_text(folder + "/points.csv")}});
  const auto* columns = own.find("columns");
  const auto* names = columns ? columns->find("points") : nullptr;
  if (own.find("poses") || (names && names->items.size() == 2))
    data.set("columns", map_of({{"points", Node::list({word("x1"), word("y1")})}}));
  return image_options(own, std::move(data));
}

/// Images with as many numbers as the recipe's: places in them.
Node numbers(const Node& own, std::size_t count, const std::string& folder) {
  make_points(folder, kFewScenes);
  const std::vector<std::string> places{"x1", "y1", "x2", "y2"};
  Node columns = Node::list();
  for (std::size_t i = 0; i < count; ++i) columns.items.push_back(word(places.at(i)));
  return image_options(own, map_of({{"type", word("manifest")},
                                    {"file", Node::quoted_text(folder + "/points.csv")},
                                    {"numbers", columns}}));
}

/// What the rows are to hold: as the recipe says it, else as its loss takes it.
bool is_regression(const Recipe& recipe) {
  if (const auto target = written_target(recipe, all_catalogs()))
    return *target == TargetKind::numbers;
  if (recipe.loss.automatic()) return false;
  const auto& catalog = *all_catalogs().at("loss");
  const auto losses = with_nested(*recipe.loss.value, "loss", all_catalogs());
  return std::any_of(losses.begin(), losses.end(), [&](const NestedChoice& loss) {
    const auto* entry = catalog.find(loss.choice.type());
    return entry && entry->has("takes_number") && !entry->has("takes_class");
  });
}

/// Users and items are columns of names.
Node as_table(const Node& ratings) {
  const auto column = [&](const std::string& key) {
    const auto* written = ratings.find(key);
    const bool named = written && (written->quoted || written->text != "auto");
    return Node::quoted_text(named ? written->text : key);
  };
  Node data = ratings;
  Node names = Node::list({column("user"), column("item")});
  for (const auto* key : {"user", "item"}) remove(data, key);
  data.set("target", column("rating"));
  data.set("categories", std::move(names));
  data.set("continuous", Node::list());
  data.set("task", word("regression"));
  remove(data, "rating");
  return data;
}

Node table(const Node& own, const std::string& folder, bool regression) {
  Node data = own;
  data.set("type", word("csv_table"));
  for (const auto* key : {"source", "drop", "missing"}) remove(data, key);
  data.set("file", Node::quoted_text(make_rows(own, folder, regression)));
  data.set("valid", map_of({{"fraction", word("0.2")}}));
  return data;
}

Node numbered_texts(const std::string& folder) {
  return map_of({{"type", word("text_csv")},
                 {"file", Node::quoted_text(make_numbered_texts(folder))},
                 {"task", word("regression")},
                 {"valid", map_of({{"fraction", word("0.2")}})}});
}

Node classified_texts(const std::string& folder) {
  make_texts(folder);
  return map_of({{"type", word("text_folder")},
                 {"root", Node::quoted_text(folder)},
                 {"train", word("train")},
                 {"valid", word("val")}});
}

Node texts(const Node& own, const Recipe& recipe, const std::string& folder) {
  Node data = with(
      is_regression(recipe) ? numbered_texts(folder) : classified_texts(folder), own,
      {"tokenizer", "max_length", "truncate", "padding", "blocks", "sampler", "mix", "loader"});
  if (written_target(recipe, all_catalogs()) == TargetKind::tokens)
    data.set("task", word("language_model"));
  data.set("vocabulary", map_of({{"min_freq", word("1")}}));
  return data;
}

Node made_data(const Node& own, const Recipe& recipe, const std::string& folder) {
  const auto& entry = *all_catalogs().at("data")->find(recipe.data.type());
  if (entry.has("gives_masks")) return masks(own, folder);
  if (entry.has("gives_points")) return points(own, folder);
  const auto count = listed_numbers(recipe, all_catalogs()).size();
  if (entry.has("gives_images") && count > 0 && count <= 4) return numbers(own, count, folder);
  if (entry.has("gives_images") && entry.has("gives_class"))
    return images(own, trait_argument(entry, "pixels").value_or(""), folder);
  if (entry.has("users_and_items")) return table(as_table(own), folder, true);
  if (entry.has("gives_tables")) return table(own, folder, is_regression(recipe));
  if (entry.has("gives_texts")) return texts(own, recipe, folder);
  throw Error(Exit::recipe, Option{"data"}, "no data can be made for '{}'", entry.name)
      .at(own.place);
}

void shorten_stages(Node& train) {
  auto* stages = train.find("stages");
  if (!stages || stages->items.empty()) return;
  for (auto& stage : stages->items) {
    stage.set("duration", word("1 step"));
    if (stage.find("schedule")) stage.set("schedule", word("constant"));
  }
}

/// How long the run lasts, in each of the ways that a recipe can say so.
void shorten(Node& train) {
  if (auto* fine_tune = train.find("fine_tune"); fine_tune && fine_tune->is_map()) {
    fine_tune->set("epochs", word("1"));
    fine_tune->set("freeze_epochs", word("1"));
    remove(train, "duration");
  } else if (train.find("stages")) {
    shorten_stages(train);
  } else {
    train.set("duration", word(kLength));
  }
  if (auto* swa = train.find("swa"); swa && swa->is_map())
    for (const auto* key : {"start", "every", "over"})
      if (key != std::string_view("over") || swa->find(key)) swa->set(key, word("1 step"));
}

/// Data for whatever is scored in addition to the validation split.
void make_splits(Node& eval, const Recipe& recipe, const std::string& folder) {
  auto other = recipe;
  for (const auto& section : split_sections(recipe)) {
    other.data = section.data;
    auto* home = section.name == kTestSplit ? &eval : eval.find("splits");
    home->set(section.name, made_data(section.data.node(), other, folder + "/" + section.name));
  }
}

}  // namespace

Node quick_recipe(const Node& tree, const Recipe& recipe, const std::string& folder) {
  Node quick = tree;
  const auto* data = tree.find("data");
  quick.set("data", made_data(*data, recipe, folder + "/data"));
  if (!quick.find("train")) quick.set("train", Node::map());
  shorten(*quick.find("train"));
  if (auto* model = quick.find("model"); model->is_map()) remove(*model, "weights");
  const auto batch = recipe.batch.per_device ? "per_device" : "global";
  quick.set("batch", map_of({{batch, word(std::to_string(kBatch))}}));
  quick.set("schedule", word("constant"));
  if (recipe.train.fine_tune) remove(quick, "schedule");
  for (const auto* key : {"momentum_schedule", "weight_decay_schedule"}) remove(quick, key);
  if (auto* eval = quick.find("eval")) {
    eval->set("every", word(kLength));
    make_splits(*eval, recipe, folder);
  }
  if (auto* checkpoint = quick.find("checkpoint")) checkpoint->set("every", word(kLength));
  quick.set("log", map_of({{"every", word("1 step")}, {"tensorboard", word("false")}}));
  quick.set("output", map_of({{"dir", Node::quoted_text(folder + "/runs")}}));
  for (const auto* key : {"parallel", "expect", "sweep"}) remove(quick, key);
  return quick;
}

}  // namespace ddptrain
