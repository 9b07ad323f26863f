// `data get|check|stats|show RECIPE`, `data tokens|shards RECIPE FOLDER` and `data make KIND
// FOLDER`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/output/long_work.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/problems.h"
#include "cli/verb.h"
#include "data/prediction_form.h"
#include "data/tokens/token_dataset.h"
#include "jobs/data/data_make.h"
#include "jobs/data/data_shards.h"
#include "jobs/data/data_show.h"
#include "jobs/data/data_tokens.h"
#include "recipe/load/load.h"
#include "train/build/build.h"
#include "train/build/splits.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

/// Of the words behind the action, but for the last `others`.
Recipe read_recipe(const Arguments& arguments, int others = 0) {
  const auto words = split_words({arguments.words.begin() + 1, arguments.words.end() - others});
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  if (say_problems(loaded.problems)) throw Error(Exit::recipe, "nothing was read");
  return loaded.recipe;
}

// Opening a dataset fetches its source where it is missing.
int get(const Arguments& arguments) {
  const auto recipe = read_recipe(arguments);
  const auto data = build_data(recipe);
  log::info("the data is there: {}, {}", plural(data->size(Split::train), "training sample"),
            plural(data->size(Split::valid), "validation sample"));
  for (auto& section : split_sections(recipe))
    log::info("{}: {}", section.path,
              plural(build_split(recipe, *data, section, {})->size(Split::valid), "sample"));
  return 0;
}

std::string split_name(Split split) { return split == Split::train ? "training" : "validation"; }

std::int64_t count_bad(const Dataset& data, Split split) {
  std::int64_t bad = 0;
  LongWork work(fmt::format("checking {} samples", split_name(split)), data.size(split));
  for (std::int64_t i = 0; i < data.size(split); work.did(), ++i) try {
      auto batch = data.allocate_length(split, 1, data.length(split, i));
      if (!data.load(split, i, {}, batch, 0)) ++bad;
    } catch (const Error& error) {
      log::error(error.what());
      ++bad;
    }
  return bad;
}

int check(const Arguments& arguments) {
  auto recipe = read_recipe(arguments);
  recipe.policy.on_bad_sample = OnBadSample::error;
  const auto data = build_data(recipe);
  const auto bad = count_bad(*data, Split::train) + count_bad(*data, Split::valid);
  const auto all = data->size(Split::train) + data->size(Split::valid);
  print_shown("%s read, %s bad\n", plural(all, "sample").c_str(), std::to_string(bad).c_str());
  return static_cast<int>(bad > 0 ? Exit::data : Exit::done);
}

/// How many samples of each class a split has.
std::vector<std::int64_t> samples_of_classes(const Dataset& data, Split split) {
  std::vector<std::int64_t> counts(data.facts().classes.size());
  for (std::int64_t i = 0; i < data.size(split); ++i)
    if (const auto label = data.label(split, i); label >= 0)
      ++counts.at(static_cast<std::size_t>(label));
  return counts;
}

/// How many pixels, as validation shows the images; the last count is of void ones.
std::vector<std::int64_t> pixels_of_classes(const Dataset& data, Split split) {
  const auto classes = data.facts().classes.size();
  std::vector<std::int64_t> counts(classes + 1);
  Draw plain;
  plain.plain = true;
  LongWork work(fmt::format("reading {} samples", split_name(split)), data.size(split));
  for (std::int64_t i = 0; i < data.size(split); work.did(), ++i) {
    auto batch = data.allocate(Split::valid, 1);
    if (!data.load(split, i, plain, batch, 0)) continue;
    const auto* pixel = batch.targets.at(0).const_data_ptr<std::int64_t>();
    for (std::int64_t left = batch.targets[0].numel(); left > 0; --left, ++pixel)
      ++counts[std::min(classes, static_cast<std::size_t>(*pixel))];
  }
  return counts;
}

/// What the numbers of a target are like, missing ones apart.
struct NumberStats {
  std::int64_t known = 0, missing = 0;
  double sum = 0, lowest = 0, highest = 0;

  void add(double value) {
    if (std::isnan(value)) {
      ++missing;
      return;
    }
    lowest = known == 0 ? value : std::min(lowest, value);
    highest = known == 0 ? value : std::max(highest, value);
    sum += value;
    ++known;
  }
};

std::vector<NumberStats> stats_of_numbers(const Dataset& data, Split split) {
  const auto& facts = data.facts();
  std::vector<NumberStats> stats(static_cast<std::size_t>(facts.numbers + 2 * facts.points));
  Draw plain;
  plain.plain = true;
  LongWork work(fmt::format("reading {} samples", split_name(split)), data.size(split));
  for (std::int64_t i = 0; i < data.size(split); work.did(), ++i) {
    auto batch = data.allocate_length(Split::valid, 1, data.length(split, i));
    if (!data.load(split, i, plain, batch, 0)) continue;
    const auto* value = batch.targets.at(0).const_data_ptr<float>();
    for (auto& each : stats) each.add(*value++);
  }
  return stats;
}

using Cells = std::vector<std::vector<std::string>>;

std::string six_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

void print_numbers(const Dataset& data) {
  const auto* form = data.prediction_form();
  const auto names = form ? form->columns() : std::vector<std::string>{"target"};
  const auto* title = data.facts().points > 0 ? "point, -1 to 1" : "number";
  Cells cells{{title, "split", "samples", "missing", "mean", "lowest", "highest"}};
  for (const auto& [split, word] : {std::pair(Split::train, "train"), {Split::valid, "valid"}}) {
    const auto stats = stats_of_numbers(data, split);
    for (std::size_t i = 0; i < stats.size(); ++i) {
      const auto known = static_cast<double>(std::max<std::int64_t>(1, stats[i].known));
      cells.push_back({shown(names.at(i)), word, std::to_string(stats[i].known),
                       std::to_string(stats[i].missing), six_digits(stats[i].sum / known),
                       six_digits(stats[i].lowest), six_digits(stats[i].highest)});
    }
  }
  print_table(cells);
}

void print_tokens(const Dataset& data, const TokenData& tokens) {
  std::vector<std::string> documents{"documents"}, empty{"empty documents"}, all{"tokens"};
  for (const auto& source : tokens.splits) {
    std::int64_t sum = 0, none = 0;
    for (std::int64_t i = 0; i < source->documents(); ++i) {
      sum += source->length(i);
      none += source->length(i) == 0;
    }
    documents.push_back(std::to_string(source->documents()));
    empty.push_back(std::to_string(none));
    all.push_back(std::to_string(sum));
  }
  print_table({{"", "train", "valid"},
               std::move(documents),
               std::move(empty),
               std::move(all),
               {"samples", std::to_string(data.size(Split::train)),
                std::to_string(data.size(Split::valid))}});
}

int stats(const Arguments& arguments) {
  const auto data = build_data(read_recipe(arguments));
  if (const auto* tokens = dynamic_cast<const HasTokens*>(data.get()))
    return print_tokens(*data, tokens->token_data()), 0;
  if (data->facts().numbers > 0 || data->facts().points > 0) return print_numbers(*data), 0;
  auto classes = data->facts().classes;
  if (data->facts().mask && data->facts().mask->void_code) classes.emplace_back("(void)");
  const auto count = data->facts().mask ? pixels_of_classes : samples_of_classes;
  const auto train = count(*data, Split::train), valid = count(*data, Split::valid);
  Cells cells{{data->facts().mask ? "pixels of class" : "class", "train", "valid"}};
  for (std::size_t i = 0; i < classes.size(); ++i)
    cells.push_back({shown(classes[i]), std::to_string(train[i]), std::to_string(valid[i])});
  cells.push_back({data->facts().mask ? "images" : "all", std::to_string(data->size(Split::train)),
                   std::to_string(data->size(Split::valid))});
  print_table(cells);
  return 0;
}

// Its words are those of Split.
constexpr Flag kShownSplit{"--split", "train|valid", "of show (default train)"};

int show(const Arguments& arguments) {
  ShowOptions options;
  options.output = arguments.value("--output", options.output);
  options.count = whole_number(arguments, "--count", options.count);
  options.split = static_cast<Split>(arguments.chosen(kShownSplit));
  show_samples(read_recipe(arguments), options);
  return 0;
}

int tokens(const Arguments& arguments) {
  if (arguments.words.size() < 3)
    throw Error(Exit::recipe, "usage: ddptrain data tokens RECIPE FOLDER");
  write_tokens(read_recipe(arguments, 1), arguments.words.back());
  return 0;
}

/// Bytes of a shard; 256 MiB unless written.
std::uint64_t shard_bytes(const Arguments& arguments) {
  const auto text = arguments.value("--size", "256 MiB");
  Size size;
  std::string why;
  if (!parse(Node::scalar(text), size, why) || size.bytes <= 0)
    throw Error(Exit::recipe, "--size: '{}' is not a size such as 256MiB", text);
  return static_cast<std::uint64_t>(size.bytes);
}

int shards(const Arguments& arguments) {
  if (arguments.words.size() < 3)
    throw Error(Exit::recipe, "usage: ddptrain data shards RECIPE FOLDER [--size 256MiB]");
  write_shards(read_recipe(arguments, 1), arguments.words.back(), shard_bytes(arguments));
  return 0;
}

int data(const Arguments& arguments) {
  const auto& action = arguments.words[0];
  if (action == "get") return get(arguments);
  if (action == "check") return check(arguments);
  if (action == "stats") return stats(arguments);
  if (action == "show") return show(arguments);
  if (action == "tokens") return tokens(arguments);
  if (action == "shards") return shards(arguments);
  if (action == "make") return make_data(arguments);
  const auto near = nearest(action, {"get", "check", "stats", "show", "tokens", "shards", "make"});
  throw Error(Exit::recipe, "'data' has no action '{}'{}", action,
              did_you_mean(near, "; there are get, check, stats, show, tokens, shards, make"));
}

}  // namespace

Verb data_verb() {
  return {
      .name = "data",
      .usage =
          "get RECIPE | check RECIPE | stats RECIPE | show RECIPE | tokens RECIPE FOLDER | shards "
          "RECIPE FOLDER | make shapes|masks|points|table|ratings FOLDER",
      .summary =
          "fetch data, verify every file, count classes, look at samples, write the tokens of "
          "texts into files or samples into tar shards, make the built-in images or tables",
      .flags = {kShownSplit,
                {"--count", "N", "samples to show (default 16)"},
                {"--output", "FILE.png", "for images that are shown (default samples.png)"},
                {"--seed", "N", "of the images or rows"},
                {"--rows", "N", "rows of a table"},
                {"--train", "N", "training images, of shapes each class's"},
                {"--val", "N", "validation images, of shapes each class's"},
                {"--size", "N|SIZE", "pixels of each side; of a shard its bytes (default 256MiB)"}},
      .min_words = 2,
      .run = data};
}

}  // namespace ddptrain
