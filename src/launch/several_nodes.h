// Signs that this process is one of a job on several nodes.
#pragma once

#include <string>

#include "launch/variables.h"

namespace ddptrain {

/// The variable that says to use this node alone, whatever else is set: DDPTRAIN_SINGLE_NODE=1.
inline constexpr const char* kSingleNode = "DDPTRAIN_SINGLE_NODE";

/// Whether kSingleNode says so. An Error (Exit::recipe) where it is neither 0 nor 1.
bool asks_for_single_node(const Environment& environment);

/// An Error (Exit::recipe) where a variable says that a job has several nodes, or that this is one
/// of several processes: none of those that say which rank this is was found, so it would train
/// alone. Names the variable, how to start, and kSingleNode.
void refuse_several_nodes(const Environment& environment);

}  // namespace ddptrain
