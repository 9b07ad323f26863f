// tokenizer unigram: the likeliest pieces of each word (T5, XLM-R), from a tokenizer.json.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "text/piece_trie.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

constexpr double unknown_penalty = 10;  // below the least likely piece (SentencePiece's)

class Unigram final : public FileTokenizer {
 public:
  explicit Unigram(const TokenizerFileOptions& options) : FileTokenizer(options.file, "Unigram") {
    const auto model = this->model();
    model.allow({"type", "unk_id", "vocab", "byte_fallback"});
    byte_fallback_ = model.flag("byte_fallback", false);
    byte_ids_ = byte_ids();
    const auto vocabulary = model.at("vocab");
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < vocabulary.items(); ++i) {
      const auto score = vocabulary.item(i).item(1);
      if (!score.value().is_number()) score.fail("is not a number");
      scores_.push_back(score.value().get<double>());
      least = std::min(least, scores_.back());
      pieces_.add(vocabulary.item(i).item(0).text(), static_cast<std::int32_t>(i));
    }
    unknown_score_ = least - unknown_penalty;
  }

 private:
  /// The best way to cut a word up to some place: its last piece begins at `first`.
  struct Best {
    double score = 0;
    std::int32_t id = -1;
    std::size_t first = none;
  };
  static constexpr std::size_t none = SIZE_MAX;

  static void offer(Best& best, double score, std::int32_t id, std::size_t first) {
    if (best.first == none || score > best.score) best = {score, id, first};
  }

  // Viterbi's algorithm over the bytes; of equally likely ways the first one stays.
  std::vector<Best> best_ways(std::string_view word) const {
    std::vector<Best> best(word.size() + 1);
    for (std::size_t at = 0; at < word.size();) {
      const auto first = at;
      next_character(word, at);
      const auto score = best[first].score;
      bool single = false;
      pieces_.find(word.substr(first), [&](std::size_t length, std::int32_t id) {
        offer(best[first + length], score + scores_[static_cast<std::size_t>(id)], id, first);
        single = single || first + length == at;
      });
      if (!single) offer(best[at], score + unknown_score_, unknown_, first);
    }
    return best;
  }

  void add_pieces(std::string_view word, std::vector<std::int32_t>& ids) const override {
    const auto best = best_ways(word);
    const auto first = static_cast<std::ptrdiff_t>(ids.size());
    for (auto end = word.size(); end > 0;) {
      auto begin = best[end].first;
      if (best[end].id != unknown_) {
        ids.push_back(best[end].id);
      } else {  // unknown pieces in a row are one
        while (begin > 0 && best[begin].id == unknown_) begin = best[begin].first;
        add_unknown(word.substr(begin, end - begin), ids);
      }
      end = begin;
    }
    std::reverse(ids.begin() + first, ids.end());
  }

  /// Back to front, as the pieces are found.
  void add_unknown(std::string_view piece, std::vector<std::int32_t>& ids) const {
    if (const auto id = id_of(piece); id >= 0) return ids.push_back(id);
    const auto byte_id = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
    const bool has_bytes = byte_fallback_ && std::all_of(piece.begin(), piece.end(),
                                                         [&](char c) { return byte_id(c) >= 0; });
    if (!has_bytes) return ids.push_back(unknown_);
    std::transform(piece.rbegin(), piece.rend(), std::back_inserter(ids), byte_id);
  }

  PieceTrie pieces_;
  std::vector<double> scores_;  // log probabilities, by number
  double unknown_score_ = 0;
  bool byte_fallback_ = false;
  const std::int32_t unknown_ = unknown_id();
  std::array<std::int32_t, 256> byte_ids_{};
};

}  // namespace

Entry<Tokenizer> unigram_tokenizer() {
  return entry_of<Tokenizer, Unigram, TokenizerFileOptions>(
      "unigram", "The likeliest pieces of each word (T5, XLM-R), from a tokenizer.json.");
}

}  // namespace ddptrain
