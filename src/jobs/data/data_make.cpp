#include "jobs/data/data_make.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>

#include "base/error.h"
#include "base/output/log.h"
#include "base/output/progress.h"
#include "base/text.h"
#include "launch/signals.h"
#include "sources/synthetic/houses.h"
#include "sources/synthetic/ratings.h"
#include "sources/synthetic/scenes.h"
#include "sources/synthetic/shapes.h"

namespace ddptrain {
namespace {

constexpr std::array<const char*, 3> kOfImages{"--train", "--val", "--size"};
constexpr std::array<const char*, 1> kOfTables{"--rows"};

template <class Flags>
void refuse(const Arguments& arguments, const Flags& flags) {
  for (const auto* flag : flags)
    if (arguments.has(flag))
      throw Error(Exit::recipe, "{} has no effect on 'data make {}'", flag, arguments.words[1]);
}

std::uint64_t seed_of(const Arguments& arguments, std::uint64_t otherwise) {
  return static_cast<std::uint64_t>(whole_number(arguments, "--seed", static_cast<int>(otherwise)));
}

/// Writes `name` in the folder by `make`.
template <class Options, class Make>
int make_table(const Arguments& arguments, const char* name, const Make& make) {
  refuse(arguments, kOfImages);
  Options options;
  options.seed = seed_of(arguments, options.seed);
  options.rows = whole_number(arguments, "--rows", options.rows);
  const auto file = arguments.words[2] + "/" + name;
  log::info(make(arguments.words[2], options)
                ? fmt::format("wrote {} into {}", plural(options.rows, "row"), file)
                : file + " is there already");
  return 0;
}

/// Draws images into the folder by `make`: `kinds` times as many as the options say.
template <class Options, class Make>
int make_images(const Arguments& arguments, int kinds, const Make& make) {
  refuse(arguments, kOfTables);
  Options options;
  options.seed = seed_of(arguments, options.seed);
  options.train = whole_number(arguments, "--train", options.train);
  options.val = whole_number(arguments, "--val", options.val);
  options.size = whole_number(arguments, "--size", options.size);
  const auto& folder = arguments.words[2];
  log::info(make(folder, options) ? fmt::format("drew {} images into {}",
                                                kinds * (options.train + options.val), folder)
                                  : fmt::format("the images are in {} already", folder));
  return 0;
}

struct StopMaking {
  int signal = 0;
};

/// What was made so far is removed.
int until_asked_to_stop(const std::function<int()>& make) {
  const Signals signals;
  const ProgressListener listener([&] {
    if (const int signal = signals.stop_requested().signal) throw StopMaking{signal};
  });
  try {
    return make();
  } catch (const StopMaking& stop) {
    log::info("asked to stop ({}): nothing was made", signal_name(stop.signal));
    return 128 + stop.signal;
  }
}

}  // namespace

int whole_number(const Arguments& arguments, std::string_view flag, int otherwise) {
  if (!arguments.has(flag)) return otherwise;
  const auto value = parse_integer(arguments.value(flag));
  if (!value || *value < 1 || *value > 1'000'000)
    throw Error(Exit::recipe, "{}: '{}' is not a whole number above 0", flag,
                arguments.value(flag));
  return static_cast<int>(*value);
}

int make_data(const Arguments& arguments) {
  using Make = std::function<int(const Arguments&)>;
  static const std::map<std::string, Make> kinds{
      {"shapes", [](const auto& a) { return make_images<ShapesOptions>(a, 10, make_shapes); }},
      {"masks", [](const auto& a) { return make_images<ScenesOptions>(a, 1, make_masks); }},
      {"points", [](const auto& a) { return make_images<ScenesOptions>(a, 1, make_points); }},
      {"table",
       [](const auto& a) { return make_table<HousesOptions>(a, "houses.csv", make_houses); }},
      {"ratings",
       [](const auto& a) { return make_table<RatingsOptions>(a, "ratings.csv", make_ratings); }}};
  if (arguments.words.size() != 3)
    throw Error(Exit::recipe,
                "usage: ddptrain data make KIND FOLDER; there are shapes, masks, points, table and "
                "ratings");
  const auto& asked = arguments.words[1];
  const auto kind = kinds.find(asked);
  if (kind != kinds.end()) return until_asked_to_stop([&] { return kind->second(arguments); });
  std::vector<std::string> names;
  for (const auto& [name, make] : kinds) names.push_back(name);
  throw Error(Exit::recipe, "'data make' has no kind '{}'{}", asked,
              did_you_mean(nearest(asked, names), "; there are " + join(names, ", ")));
}

}  // namespace ddptrain
