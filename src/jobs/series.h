// The runs that `run --repeat` and `run --folds` make of one recipe, and what ends a series.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"

namespace ddptrain {

/// What distinguishes one run from the others, and its name behind the series': "42" of seeds.
struct SeriesMember {
  std::string name;
  std::vector<std::string> overrides;
};

struct RunSeries {
  std::string kind;  // "seed", "fold"
  std::vector<SeriesMember> members;
};

inline constexpr Flag kRepeat{"--repeat", "N",
                              "N runs on seeds from the recipe's own upwards, and their mean"};
inline constexpr Flag kFolds{"--folds", "K",
                             "K runs, each of which holds out another of K folds, and their mean"};
inline constexpr Flag kFoldBy{"--fold-by", "classes|groups|random",
                              "what folds are by; else as data.valid.fold.by says"};

/// Whether the arguments ask for several runs. An Error (Exit::recipe) where they do so in two
/// ways, or say what folds are by where there are none.
bool asks_for_several(const Arguments& arguments);

/// The runs that the arguments ask for. What the recipe says of `data.valid.fold` and its seed is
/// kept; other ways to hold samples out are not. Errors (Exit::recipe): a number that is none, data
/// without folds.
RunSeries series_of(const Arguments& arguments);

/// Whether a run with this exit code has a result, so that the series continues: done, short of
/// `expect`, diverged.
bool is_result(int code);

/// The exit code of a series in which two runs ended so.
int worse(int a, int b);

}  // namespace ddptrain
