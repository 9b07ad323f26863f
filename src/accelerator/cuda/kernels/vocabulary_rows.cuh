// Parameters of the kernels of rows of scores; shared with the host.
#pragma once

constexpr int kVocabularyThreads = 256;  // of a block, which takes a row

/// Scores [rows, width], of which the first `vocabulary` count (src/losses/vocabulary_rows.h).
/// `width` is a multiple of 4.
struct VocabularyArguments {
  long long rows;
  int vocabulary, width;
  double label_smoothing, z_loss, soft_cap;
};
