#include "models/tabular/users_and_items.h"

#include "base/error.h"

namespace ddptrain {

UsersAndItems users_and_items(const ModelContext& context, const std::string& model) {
  const auto& data = context.data;
  const bool only_names = data.sample.size() == 1 && data.sample[0] == 0;
  if (!only_names || data.cardinalities.size() != 2)
    throw Error(
        Exit::recipe, Option{"model"},
        "{} wants users and items: two columns of names and no numbers (data: {{type: ratings}})",
        model);
  return {data.cardinalities[0], data.cardinalities[1]};
}

}  // namespace ddptrain
