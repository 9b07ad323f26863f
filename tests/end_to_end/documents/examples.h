// The commands that README.md and docs/ show.
#pragma once

#include <string>
#include <vector>

namespace ddptrain::end_to_end {

/// A command as a document shows it, without what stands behind it: two spaces or more, and words.
struct Example {
  std::string where;  // "docs/data.md:9"
  std::string command;
};

/// Commands that a reader types one after another: the lines of an indented block or of a fence
/// without a language, or what stands in one line of a paragraph or a table.
using Block = std::vector<Example>;

/// Of README.md and the pages of docs/ but the generated ones (the reference, the problems, whose
/// examples have tests of their own) and clusters.md, whose lines are of other launchers. The name
/// of a verb alone in a sentence is no example.
std::vector<Block> shown_commands();

}  // namespace ddptrain::end_to_end
