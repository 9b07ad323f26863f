// A sample as a person would look at it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transforms/image.h"

namespace ddptrain {

/// A token as a language model reads it.
struct ShownToken {
  std::string text;
  bool begins = false;   // a document
  bool learned = false;  // it is the target of the place before
};

/// What `data show` shows of one sample, after its transforms: titles with their texts (columns of
/// a table, a text and its label; the longest last), or an image of bytes with them.
struct Preview {
  std::string name;  // Dataset::sample_name
  std::vector<std::pair<std::string, std::string>> cells;
  std::optional<Image> image;
  std::vector<ShownToken> tokens = {};  // of a language model
};

}  // namespace ddptrain
