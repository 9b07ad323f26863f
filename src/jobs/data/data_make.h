// `data make KIND FOLDER`: built-in data.
#pragma once

#include <string_view>

#include "cli/verb.h"

namespace ddptrain {

int make_data(const Arguments& arguments);

/// A flag's number from 1 to a million, or `otherwise`. An Error (Exit::recipe) names the flag.
int whole_number(const Arguments& arguments, std::string_view flag, int otherwise);

}  // namespace ddptrain
