// The flags by which a verb is started on several machines without a launcher.
#pragma once

#include "cli/verb.h"
#include "launch/given_nodes.h"
#include "recipe/recipe.h"

namespace ddptrain {

inline constexpr Flag kNodes{"--nodes", "N", "how many machines train together (parallel.nodes)"};
inline constexpr Flag kNodeRank{"--node-rank", "K",
                                "which of them this is, from 0, where no launcher says"};
inline constexpr Flag kAddress{"--address", "HOST[:PORT]",
                               "where they meet: node 0 (parallel.rendezvous); port 29500"};

inline constexpr Flag kAutoResume{"--auto-resume", "",
                                  "continue the unfinished run of this recipe, if there is one; "
                                  "SIGUSR1 saves and exits with 138, to be started again"};

/// What the flags say, and where they are silent, the recipe. An Error (Exit::recipe) where a value
/// is wrong.
GivenNodes given_nodes(const Arguments& arguments, const ParallelSpec& parallel = {});

/// The place of this process by the environment, the flags and the recipe (launch/given_nodes.h).
Topology topology_given(const Arguments& arguments, const ParallelSpec& parallel = {});

/// Where the number of devices that a recipe has gives way to that of a launcher: both numbers.
/// Empty where the recipe leaves it open, or they agree.
std::string devices_by_launcher(const ParallelSpec& parallel, const Topology& outer);

}  // namespace ddptrain
