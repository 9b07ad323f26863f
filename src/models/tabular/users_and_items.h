// What recommendation asks of the data.
#pragma once

#include <string>

#include "models/model.h"

namespace ddptrain {

/// How many users and items there are, "#na#" among both.
struct UsersAndItems {
  std::int64_t users = 0;
  std::int64_t items = 0;
};

/// An Error (Exit::recipe) that names the model where the data have other columns than those two.
UsersAndItems users_and_items(const ModelContext& context, const std::string& model);

}  // namespace ddptrain
