// tokenizer bpe: characters or bytes joined pair by pair (GPT-2, RoBERTa), from a tokenizer.json.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <queue>

#include "base/error.h"
#include "text/merges.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

using Ids = std::vector<std::int32_t>;

/// The symbols of a long word as a list that shrinks; the cheapest merge stands on top of a heap,
/// of equally cheap ones the leftmost. n log n for any word.
class HeapJoiner {
 public:
  HeapJoiner(const Merges& merges, const std::int32_t* symbols, int n) : merges_(merges) {
    for (int i = 0; i < n; ++i) list_.push_back({symbols[i], i - 1, i + 1 < n ? i + 1 : -1, true});
    for (int i = 0; i + 1 < n; ++i) offer(i);
  }

  void append_to(Ids& ids) {
    while (!heap_.empty()) {
      const auto best = heap_.top();
      heap_.pop();
      join(best);
    }
    for (int i = list_.empty() ? -1 : 0; i >= 0; i = at(i).next) ids.push_back(at(i).symbol);
  }

 private:
  struct Item {
    std::int32_t symbol;
    int before, next;
    bool alive;
  };
  struct Candidate {
    Merge merge;
    int left;
    std::int32_t first, second;  // what stood there when it was offered
    bool operator<(const Candidate& other) const {
      return merge.rank != other.merge.rank ? merge.rank > other.merge.rank : left > other.left;
    }
  };

  Item& at(int i) { return list_[static_cast<std::size_t>(i)]; }

  void offer(int left) {
    if (left < 0 || at(left).next < 0) return;
    const auto first = at(left).symbol, second = at(at(left).next).symbol;
    if (const auto merge = merges_.find(first, second); merge.exists())
      heap_.push({merge, left, first, second});
  }

  void join(const Candidate& best) {
    auto& left = at(best.left);
    if (!left.alive || left.next < 0) return;
    auto& right = at(left.next);
    if (left.symbol != best.first || right.symbol != best.second) return;
    left.symbol = best.merge.joined;
    right.alive = false;
    left.next = right.next;
    if (left.next >= 0) at(left.next).before = best.left;
    offer(left.before);
    offer(best.left);
  }

  const Merges& merges_;
  std::vector<Item> list_;
  std::priority_queue<Candidate> heap_;
};

constexpr std::size_t short_word = 32;  // symbols, up to which a look at every pair is faster

/// The same for a short word, in place; how many symbols are left.
std::size_t join_short(const Merges& merges, std::int32_t* symbols, std::size_t n) {
  std::array<Merge, short_word> pairs;  // of each symbol and the next one
  for (std::size_t i = 0; i + 1 < n; ++i) pairs[i] = merges.find(symbols[i], symbols[i + 1]);
  while (n > 1) {
    const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(n - 1);
    const auto best = std::min_element(
        pairs.begin(), end, [](const Merge& a, const Merge& b) { return a.rank < b.rank; });
    if (!best->exists()) break;
    const auto i = static_cast<std::size_t>(best - pairs.begin());
    symbols[i] = best->joined;
    std::copy(symbols + i + 2, symbols + n, symbols + i + 1);
    std::copy(best + 1, end, pairs.begin() + (best - pairs.begin()));
    --n;
    if (i > 0) pairs[i - 1] = merges.find(symbols[i - 1], symbols[i]);
    if (i + 1 < n) pairs[i] = merges.find(symbols[i], symbols[i + 1]);
  }
  return n;
}

class Bpe final : public FileTokenizer {
 public:
  explicit Bpe(const TokenizerFileOptions& options) : FileTokenizer(options.file, "BPE") {
    const auto model = this->model();
    model.allow({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                 "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
    for (const auto* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"})
      model.refuse(key);
    fuse_unknown_ = model.flag("fuse_unk", false);
    whole_words_ = model.flag("ignore_merges", false);
    if (model.flag("byte_fallback", false)) byte_ids_ = byte_ids();
    const auto merges = model.at("merges");
    for (std::size_t i = 0; i < merges.items(); ++i) add_merge(merges.item(i), i);
    for (std::size_t c = 0; c < ascii_ids_.size(); ++c)
      ascii_ids_[c] = id_of(std::string(1, static_cast<char>(c)));
  }

 private:
  // "a b", or ["a", "b"] in newer files.
  void add_merge(const JsonSection& section, std::size_t rank) {
    std::string left, right;
    if (section.value().is_string()) {
      const auto pair = section.text();
      const auto blank = pair.find(' ');
      if (blank == std::string::npos) section.fail(fmt::format("'{}' is not a pair", pair));
      left = pair.substr(0, blank);
      right = pair.substr(blank + 1);
    } else {
      if (section.items() != 2) section.fail("is not a pair");
      left = section.item(0).text();
      right = section.item(1).text();
    }
    const auto number = [&](const std::string& token) {
      const auto id = id_of(token);
      if (id < 0) section.fail(fmt::format("'{}' is not in the vocabulary", token));
      return id;
    };
    const auto first = number(left), second = number(right);
    merges_.add(first, second, {static_cast<std::int32_t>(rank), number(left + right)});
  }

  void add_pieces(std::string_view word, Ids& ids) const override {
    if (whole_words_)
      if (const auto id = id_of(word); id >= 0) return ids.push_back(id);
    const auto first = ids.size();
    add_characters(word, ids);
    const auto n = ids.size() - first;
    if (n <= short_word) {
      ids.resize(first + join_short(merges_, ids.data() + first, n));
      return;
    }
    HeapJoiner joiner(merges_, ids.data() + first, static_cast<int>(n));
    ids.resize(first);
    joiner.append_to(ids);
  }

  void add_characters(std::string_view word, Ids& ids) const {
    bool unknown = false;  // was met and is not among the ids yet
    const auto add_unknown = [&] {
      if (unknown) ids.push_back(unknown_);
      unknown = false;
    };
    for (std::size_t at = 0; at < word.size();) {
      const auto first = at;
      next_character(word, at);
      const auto character = word.substr(first, at - first);
      if (const auto id = character_id(character); id >= 0) {
        add_unknown();
        ids.push_back(id);
      } else if (!add_bytes(character, ids)) {
        if (!fuse_unknown_) add_unknown();
        unknown = unknown_ >= 0;
      }
    }
    add_unknown();
  }

  std::int32_t character_id(std::string_view character) const {
    return character.size() == 1 ? ascii_ids_[static_cast<std::size_t>(character[0])]
                                 : id_of(character);
  }

  /// Of a character that has no token; false where a byte of it has none either.
  bool add_bytes(std::string_view character, Ids& ids) const {
    const auto first = ids.size();
    for (const char c : character) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
    if (std::find(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end(), -1) == ids.end())
      return true;
    ids.resize(first);
    return false;
  }

  Merges merges_;
  const std::int32_t unknown_ = unknown_id();
  bool fuse_unknown_ = false;
  bool whole_words_ = false;
  std::array<std::int32_t, 128> ascii_ids_{};
  std::array<std::int32_t, 256> byte_ids_ = no_ids();  // of single bytes, with byte_fallback

  static constexpr std::array<std::int32_t, 256> no_ids() {
    std::array<std::int32_t, 256> ids{};
    ids.fill(-1);
    return ids;
  }
};

}  // namespace

Entry<Tokenizer> bpe_tokenizer() {
  return entry_of<Tokenizer, Bpe, TokenizerFileOptions>(
      "bpe", "Characters or bytes joined pair by pair (GPT-2, RoBERTa), from a tokenizer.json.");
}

}  // namespace ddptrain
