// YAML text to a tree with places: yaml-cpp's event interface, our own scalar rules, and a scan
// before it that refuses what yaml-cpp lets pass.
#pragma once

#include <string>
#include <string_view>

#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// Limits on hostile input; each is an error that names the place.
struct ReadLimits {
  std::size_t bytes = 1 << 20;
  int depth = 100;
  std::size_t nodes = 200'000;  // after aliases are expanded
};

struct ReadResult {
  Node tree;          // a map (an empty file gives an empty map) unless there are problems
  Problems problems;  // a syntax error is the only problem reported
};

/// Parses one document.
ReadResult read_yaml(std::string_view text, const std::string& file, const ReadLimits& limits = {});

/// Parses the value of an override ("0.1", "[1, 2]", "{type: adam}"); `place` is where it stands.
ReadResult read_value(std::string_view text, const Place& place);

}  // namespace ddptrain
