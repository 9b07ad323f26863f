// The options that a dotted key of a recipe can name.
#pragma once

#include <string>
#include <vector>

#include "config/shape.h"
#include "recipe/layers/address.h"

namespace ddptrain {

/// The shape of a whole recipe, made once.
const Shape& recipe_shape();

/// The option at an address; `tree` (a completed recipe) says which components were chosen. Null
/// where there is none, and for `type`, which is no option.
const Shape* find_option(const std::vector<Step>& address, const Node& tree,
                         const Catalogs& catalogs);

/// What a bare scalar stands for: of a record with a shorthand that key's option, else the option
/// itself.
const Shape& meant_by_scalar(const Shape& option);

/// Every address of a tree that leads to a value: "optimizer", "optimizer.lr",
/// "data.transforms.train[resize].size".
std::vector<std::string> addresses_of(const Node& tree);

/// What a user who wrote `key` most likely meant: the same last word elsewhere, or a spelling
/// that is near. Empty when nothing is.
std::string nearest_key(const std::string& key, const std::vector<std::string>& keys);

/// How list items are distinguished: each by its `type` where no other item has it, otherwise by
/// its index.
std::vector<std::string> item_names(const Node& list);

}  // namespace ddptrain
