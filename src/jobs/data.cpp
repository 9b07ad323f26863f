// `data get|check|stats|show RECIPE` and `data make shapes|table FOLDER`.

#include "base/error.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/problems.h"
#include "cli/verb.h"
#include "data/synthetic/houses.h"
#include "data/synthetic/shapes.h"
#include "jobs/data_show.h"
#include "recipe/load/load.h"
#include "train/build/build.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

Recipe read_recipe(const Arguments& arguments) {
  const auto words = split_words({arguments.words.begin() + 1, arguments.words.end()});
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  if (say_problems(loaded.problems)) throw Error(Exit::recipe, "nothing was read");
  return loaded.recipe;
}

// Opening a dataset fetches its source where it is missing.
int get(const Arguments& arguments) {
  const auto data = build_data(read_recipe(arguments));
  log::info("the data is there: " + plural(data->size(Split::train), "training sample") + ", " +
            plural(data->size(Split::valid), "validation sample"));
  return 0;
}

std::int64_t count_bad(const Dataset& data, Split split) {
  std::int64_t bad = 0;
  for (std::int64_t i = 0; i < data.size(split); ++i) try {
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

int stats(const Arguments& arguments) {
  const auto data = build_data(read_recipe(arguments));
  const auto& classes = data->facts().classes;
  std::vector<std::vector<std::int64_t>> counts(classes.size(), {0, 0});
  for (const auto split : {Split::train, Split::valid})
    for (std::int64_t i = 0; i < data->size(split); ++i) {
      const auto label = data->label(split, i);
      if (label >= 0) ++counts.at(static_cast<std::size_t>(label))[static_cast<std::size_t>(split)];
    }
  print_shown("%-24s %10s %10s\n", "class", "train", "valid");
  for (std::size_t i = 0; i < classes.size(); ++i)
    print_shown("%-24s %10ld %10ld\n", classes[i].c_str(), counts[i][0], counts[i][1]);
  print_shown("%-24s %10ld %10ld\n", "all", data->size(Split::train), data->size(Split::valid));
  return 0;
}

int number(const Arguments& arguments, std::string_view flag, std::int64_t otherwise) {
  if (!arguments.has(flag)) return static_cast<int>(otherwise);
  const auto value = parse_integer(arguments.value(flag));
  if (!value || *value < 1 || *value > 1'000'000)
    throw Error(Exit::recipe, std::string(flag) + ": '" + arguments.value(flag) +
                                  "' is not a whole number above 0");
  return static_cast<int>(*value);
}

void refuse(const Arguments& arguments, const std::vector<std::string>& flags) {
  for (const auto& flag : flags)
    if (arguments.has(flag))
      throw Error(Exit::recipe, flag + " has no effect on 'data make " + arguments.words[1] + "'");
}

int make_table(const Arguments& arguments) {
  refuse(arguments, {"--train", "--val", "--size"});
  HousesOptions options;
  options.seed = static_cast<std::uint64_t>(
      number(arguments, "--seed", static_cast<std::int64_t>(options.seed)));
  options.rows = number(arguments, "--rows", options.rows);
  const auto file = arguments.words[2] + "/houses.csv";
  const bool made = make_houses(arguments.words[2], options);
  log::info(made ? "wrote " + plural(options.rows, "row") + " into " + file
                 : file + " is there already");
  return 0;
}

int make_images(const Arguments& arguments) {
  refuse(arguments, {"--rows"});
  ShapesOptions options;
  options.seed = static_cast<std::uint64_t>(
      number(arguments, "--seed", static_cast<std::int64_t>(options.seed)));
  options.train = number(arguments, "--train", options.train);
  options.val = number(arguments, "--val", options.val);
  options.size = number(arguments, "--size", options.size);
  const auto& folder = arguments.words[2];
  const bool made = make_shapes(folder, options);
  log::info(made ? "drew " + std::to_string(10 * (options.train + options.val)) + " images into " +
                       folder
                 : "the images are in " + folder + " already");
  return 0;
}

int make(const Arguments& arguments) {
  const auto what = arguments.words.size() == 3 ? arguments.words[1] : "";
  if (what == "shapes") return make_images(arguments);
  if (what == "table") return make_table(arguments);
  throw Error(Exit::recipe, "usage: ddptrain data make shapes FOLDER, or make table FOLDER");
}

// Its words are those of Split.
constexpr Flag kShownSplit{"--split", "train|valid", "of show (default train)"};

int show(const Arguments& arguments) {
  ShowOptions options;
  options.output = arguments.value("--output", options.output);
  options.count = number(arguments, "--count", options.count);
  options.split = static_cast<Split>(arguments.chosen(kShownSplit));
  show_samples(read_recipe(arguments), options);
  return 0;
}

int data(const Arguments& arguments) {
  const auto& action = arguments.words[0];
  if (action == "get") return get(arguments);
  if (action == "check") return check(arguments);
  if (action == "stats") return stats(arguments);
  if (action == "show") return show(arguments);
  if (action == "make") return make(arguments);
  const auto near = nearest(action, {"get", "check", "stats", "show", "make"});
  throw Error(Exit::recipe, "'data' has no action '" + action + "'" +
                                did_you_mean(near, "; there are get, check, stats, show, make"));
}

}  // namespace

Verb data_verb() {
  return {
      .name = "data",
      .usage = "get RECIPE | check RECIPE | stats RECIPE | show RECIPE | make shapes|table FOLDER",
      .summary =
          "fetch data, verify every file, count classes, look at samples, make the built-in "
          "images or table",
      .flags = {kShownSplit,
                {"--count", "N", "samples to show (default 16)"},
                {"--output", "FILE.png", "for images that are shown (default samples.png)"},
                {"--seed", "N", "of the images or rows"},
                {"--rows", "N", "rows of the table"},
                {"--train", "N", "training images of each class"},
                {"--val", "N", "validation images of each class"},
                {"--size", "N", "pixels of each side"}},
      .min_words = 2,
      .run = data};
}

}  // namespace ddptrain
