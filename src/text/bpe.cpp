// tokenizer bpe: characters or bytes joined pair by pair (GPT-2, RoBERTa), from a tokenizer.json.
#include <queue>
#include <unordered_map>

#include "base/error.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

/// Two neighbors become `joined`; the lowest rank first.
struct Merge {
  std::uint32_t rank;
  std::uint32_t joined;
};

std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) {
  return std::uint64_t{left} << 32 | right;
}

/// The symbols of a word as a list that shrinks; the cheapest merge stands on top of a heap, of
/// equally cheap ones the leftmost. n log n for any word.
class Joiner {
 public:
  using Merges = std::unordered_map<std::uint64_t, Merge>;
  Joiner(const Merges& merges, std::vector<std::uint32_t> symbols) : merges_(merges) {
    const auto n = static_cast<int>(symbols.size());
    for (int i = 0; i < n; ++i)
      list_.push_back({symbols[static_cast<std::size_t>(i)], i - 1, i + 1 < n ? i + 1 : -1, true});
    for (int i = 0; i + 1 < n; ++i) offer(i);
  }

  template <class Each>
  void run(Each each) {
    while (!heap_.empty()) {
      const auto best = heap_.top();
      heap_.pop();
      join(best);
    }
    for (int i = list_.empty() ? -1 : 0; i >= 0; i = at(i).next) each(at(i).symbol);
  }

 private:
  struct Item {
    std::uint32_t symbol;
    int before, next;
    bool alive;
  };
  struct Candidate {
    std::uint32_t rank;
    int left;
    std::uint64_t pair;  // what stood there when it was offered
    std::uint32_t joined;
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };

  Item& at(int i) { return list_[static_cast<std::size_t>(i)]; }

  void offer(int left) {
    if (left < 0 || at(left).next < 0) return;
    const auto pair = pair_of(at(left).symbol, at(at(left).next).symbol);
    const auto found = merges_.find(pair);
    if (found != merges_.end()) heap_.push({found->second.rank, left, pair, found->second.joined});
  }

  void join(const Candidate& best) {
    auto& left = at(best.left);
    if (!left.alive || left.next < 0) return;
    auto& right = at(left.next);
    if (pair_of(left.symbol, right.symbol) != best.pair) return;
    left.symbol = best.joined;
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

class Bpe final : public FileTokenizer {
 public:
  explicit Bpe(const TokenizerFileOptions& options) : FileTokenizer(options.file, "BPE") {
    const auto model = this->model();
    model.allow({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                 "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
    for (const auto* key :
         {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"})
      model.refuse(key);
    fuse_unknown_ = model.flag("fuse_unk", false);
    whole_words_ = model.flag("ignore_merges", false);
    const auto merges = model.at("merges");
    for (std::size_t i = 0; i < merges.items(); ++i) add_merge(merges.item(i), i);
  }

 private:
  static constexpr std::uint32_t unknown = UINT32_MAX;

  // "a b", or ["a", "b"] in newer files.
  void add_merge(const JsonSection& section, std::size_t rank) {
    std::string left, right;
    if (section.value().is_string()) {
      const auto pair = section.text();
      const auto blank = pair.find(' ');
      if (blank == std::string::npos) section.fail("'" + pair + "' is not a pair");
      left = pair.substr(0, blank);
      right = pair.substr(blank + 1);
    } else {
      if (section.items() != 2) section.fail("is not a pair");
      left = section.item(0).text();
      right = section.item(1).text();
    }
    const auto number = [&](const std::string& token) {
      const auto found = words().find(token);
      if (found < 0) section.fail("'" + token + "' is not in the vocabulary");
      return static_cast<std::uint32_t>(found);
    };
    const auto pair = pair_of(number(left), number(right));
    merges_.insert_or_assign(pair, Merge{static_cast<std::uint32_t>(rank), number(left + right)});
  }

  void add_pieces(std::string_view word, Tokens& tokens) const override {
    if (whole_words_)
      if (const auto whole = words().find(word); whole >= 0)
        return tokens.list.push_back(words()[static_cast<std::size_t>(whole)]);
    std::vector<std::uint32_t> symbols;
    for (std::size_t at = 0; at < word.size();) {
      const auto first = at;
      next_character(word, at);
      const auto found = words().find(word.substr(first, at - first));
      if (found >= 0)
        symbols.push_back(static_cast<std::uint32_t>(found));
      else if (!unknown_token().empty() &&
               !(fuse_unknown_ && !symbols.empty() && symbols.back() == unknown))
        symbols.push_back(unknown);
    }
    Joiner(merges_, std::move(symbols)).run([&](std::uint32_t symbol) {
      tokens.list.push_back(symbol == unknown ? std::string_view(unknown_token())
                                              : words()[symbol]);
    });
  }

  Joiner::Merges merges_;
  bool fuse_unknown_ = false;
  bool whole_words_ = false;
};

}  // namespace

Entry<Tokenizer> bpe_tokenizer() {
  return entry<Tokenizer, TokenizerFileOptions>(
      "bpe", "Characters or bytes joined pair by pair (GPT-2, RoBERTa), from a tokenizer.json.",
      [](const TokenizerFileOptions& options) -> std::unique_ptr<Tokenizer> {
        return std::make_unique<Bpe>(options);
      });
}

}  // namespace ddptrain
