// The names in what a dataset fitted: words of a vocabulary, columns of a table and their
// categories.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ddptrain {

/// A column of names, or the words of texts, with its values in order of their numbers.
struct NamedColumn {
  std::string name;  // none of words
  std::vector<std::string> values;
  bool is_vocabulary = false;
  bool operator==(const NamedColumn&) const = default;
};

/// How texts became tokens.
struct FittedTokenizer {
  std::string digest;                          // Tokenizer::digest(); empty: no texts, or not known
  std::map<std::string, std::string> options;  // as YAML, "type" among them; empty: not recorded
};

struct FittedNames {
  std::vector<NamedColumn> columns;  // in order of DataFacts::cardinalities
  std::vector<std::string> numbers;  // columns of numbers, in order
  std::vector<std::string> targets;  // of a regression on columns of a table
  FittedTokenizer tokenizer;
};

/// Of Dataset::state(), also that of an older version. What is no such text has no names.
FittedNames fitted_names(const std::string& state);

}  // namespace ddptrain
