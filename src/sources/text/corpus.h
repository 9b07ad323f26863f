// Documents with labels, before they become numbers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ddptrain {

struct Document {
  std::string name;  // for messages and predictions: "train/pos/1_9.txt", "reviews.csv:12"
  std::int64_t label = 0;
  double number = 0;  // of a regression
};

struct Corpus {
  bool regression = false;           // documents have numbers, and no classes
  std::vector<std::string> classes;  // those of the training documents, then those that only
                                     // others have
  std::size_t trained = 0;           // how many of them training documents have
  std::array<std::vector<Document>, 2> documents;  // train, valid
  /// The bytes of a document; called from many threads.
  std::function<std::string(std::size_t split, std::size_t index)> read;
};

/// `key` changes with whatever `open` would give, and costs less.
struct CorpusSource {
  std::string key;
  std::function<Corpus()> open;
};

}  // namespace ddptrain
