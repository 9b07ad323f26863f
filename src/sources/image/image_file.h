// An image that a dataset lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

/// With what is listed of its target.
struct ImageFile {
  std::string path;  // relative to the list's root, or absolute
  std::int64_t label = 0;
  std::vector<std::int64_t> labels = {};  // where an image has any number of them
  std::vector<double> numbers = {};       // a target of numbers, or x and y of points; NaN: missing
  std::string target = {};                // the file of its mask or points, as `path`
  std::int32_t shard = -1;                // that `path` lies in; -1: none
};

}  // namespace ddptrain
