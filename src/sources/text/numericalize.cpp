#include "sources/text/numericalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "base/blocked_signals.h"
#include "base/error.h"
#include "base/output/long_work.h"
#include "base/text.h"
#include "text/unicode.h"
#include "text/words.h"

namespace ddptrain {
namespace {

constexpr std::size_t documents_at_once = 64;

/// A document's tokens: the ids of a tokenizer whose vocabulary is given, otherwise their numbers
/// among the words of the thread that read it.
struct Read {
  std::vector<std::uint32_t> words;
  std::uint32_t thread = 0;
  bool left_out = false;
  bool replaced = false;
  bool blank = false;
};

/// A word's place in the training documents, for ties of the count.
struct Seen {
  std::int64_t count = 0;
  std::size_t document = SIZE_MAX;
  std::size_t position = 0;
  bool before(const Seen& other) const {
    return document != other.document ? document < other.document : position < other.position;
  }
};

/// What one thread knows.
struct TextReader {
  Tokens tokens;
  Words words;
  std::vector<Seen> seen;
};

class Numericalizer {
 public:
  Numericalizer(const Corpus& corpus, const Tokenizer& tokenizer,
                const NumericalizeOptions& options)
      : corpus_(corpus),
        tokenizer_(tokenizer),
        options_(options),
        before_(tokenizer.before()),
        after_(tokenizer.after()),
        given_(tokenizer.vocabulary().tokens),
        ids_before_(given_ids(before_)),
        ids_after_(given_ids(after_)),
        train_(corpus.documents[0].size()),
        documents_(train_ + corpus.documents[1].size()),
        readers_(static_cast<std::size_t>(std::max(1, options.threads))) {}

  TextPack run() {
    read_all();
    TextPack pack;
    pack.regression = corpus_.regression;
    pack.classes = corpus_.classes;
    fit(pack);
    number(pack);
    note(pack);
    return pack;
  }

 private:
  void read_all() {
    LongWork work("reading texts", static_cast<std::int64_t>(documents_.size()));
    if (readers_.size() == 1) {
      read_chunks(0, work);
    } else {
      std::vector<std::thread> threads;
      {
        const BlockedSignals blocked;
        for (std::uint32_t i = 0; i < readers_.size(); ++i)
          threads.emplace_back([this, i, &work] { read_chunks(i, work); });
      }
      for (auto& thread : threads) thread.join();
    }
    if (error_) std::rethrow_exception(error_);
  }

  // Chunks are taken in order, so what comes before the first that failed was read to its end: the
  // same error is reported for any number of threads.
  void read_chunks(std::uint32_t thread, LongWork& work) {
    while (!failed_) {
      const auto first = next_.fetch_add(documents_at_once);
      if (first >= documents_.size()) return;
      const auto last = std::min(documents_.size(), first + documents_at_once);
      auto at = first;
      try {
        for (; at < last; ++at) read(at, thread);
        work.did(static_cast<std::int64_t>(last - first));
      } catch (...) {
        const std::lock_guard lock(error_lock_);
        if (!error_ || at < error_at_) {
          error_ = std::current_exception();
          error_at_ = at;
        }
        failed_ = true;
      }
    }
  }

  std::size_t split_of(std::size_t at) const { return at < train_ ? 0 : 1; }
  const Document& document(std::size_t at) const {
    return at < train_ ? corpus_.documents[0][at] : corpus_.documents[1][at - train_];
  }

  void read(std::size_t at, std::uint32_t thread) {
    auto& made = documents_[at];
    auto& reader = readers_[thread];
    made.thread = thread;
    auto text = corpus_.read(split_of(at), at < train_ ? at : at - train_);
    if (const auto bad = find_invalid_utf8(text)) {
      if (options_.invalid_utf8 == InvalidUtf8::error)
        return leave_out(
            at,
            fmt::format("not UTF-8 text (byte {}); 'invalid_utf8: replace' reads it all the same",
                        *bad + 1));
      text = replace_invalid_utf8(text);
      made.replaced = true;
    }
    made.blank = strip_begin(text).empty();
    if (given_.empty()) {
      tokenizer_.tokenize(text, reader.tokens);
      const auto kept = cut(reader.tokens.list);
      if (!kept.empty() || has_tokens_around()) return add(at, kept, reader);
    } else {
      tokenizer_.encode(text, reader.tokens);
      const auto kept = cut(reader.tokens.ids);
      if (!kept.empty() || has_tokens_around()) return add_ids(made.words, kept);
    }
    leave_out(at, "the tokenizer finds no token in it");
  }

  bool has_tokens_around() const { return !before_.empty() || !after_.empty(); }

  void leave_out(std::size_t at, const std::string& why) {
    if (!options_.skip_bad)
      throw Error(Exit::data, "{}: {}; 'policy.on_bad_sample: skip' leaves it out",
                  document(at).name, why);
    documents_[at].left_out = true;
  }

  template <class Token>
  std::span<const Token> cut(const std::vector<Token>& all) const {
    const std::span<const Token> tokens(all);
    if (!options_.max_length) return tokens;
    const auto around = static_cast<std::int64_t>(before_.size() + after_.size());
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(0, *options_.max_length - around));
    if (tokens.size() <= most) return tokens;
    return options_.truncate == Truncate::end ? tokens.first(most) : tokens.last(most);
  }

  void add(std::size_t at, std::span<const std::string_view> kept, TextReader& reader) {
    auto& words = documents_[at].words;
    words.resize(before_.size() + kept.size() + after_.size());
    auto* next = words.data();
    for (const auto& token : before_) *next++ = reader.words.add(token);
    reader.words.add(kept, next);
    next += kept.size();
    for (const auto& token : after_) *next++ = reader.words.add(token);
    see(at, words, reader);
  }

  /// Of tokens that are in the vocabulary.
  std::vector<std::uint32_t> given_ids(const std::vector<std::string>& tokens) const {
    std::vector<std::uint32_t> ids;
    if (given_.empty()) return ids;
    for (const auto& token : tokens)
      ids.push_back(static_cast<std::uint32_t>(std::ranges::find(given_, token) - given_.begin()));
    return ids;
  }

  void add_ids(std::vector<std::uint32_t>& made, std::span<const std::int32_t> kept) const {
    made.reserve(ids_before_.size() + kept.size() + ids_after_.size());
    made.assign(ids_before_.begin(), ids_before_.end());
    made.insert(made.end(), kept.begin(), kept.end());
    made.insert(made.end(), ids_after_.begin(), ids_after_.end());
  }

  // New words are numbered in the order in which they come.
  void see(std::size_t at, const std::vector<std::uint32_t>& words, TextReader& reader) const {
    auto& seen = reader.seen;
    for (std::size_t i = 0; seen.size() < reader.words.size(); ++i)
      if (words[i] == seen.size()) seen.push_back({0, at, i});
    if (at >= train_) return;
    for (const auto word : words) ++seen[word].count;
  }

  void fit(TextPack& pack) {
    const auto& source = tokenizer_.vocabulary();
    pack.tokens = !options_.fitted.empty() ? options_.fitted
                  : !source.tokens.empty() ? source.tokens
                                           : fitted_on_training_documents(source);
    const auto padding = source.padding.empty() ? std::string(kOwnPadding) : source.padding;
    const auto found = std::find(pack.tokens.begin(), pack.tokens.end(), padding);
    pack.padding = found - pack.tokens.begin();
    if (found == pack.tokens.end()) pack.tokens.push_back(padding);
  }

  // Each thread met its words in the order of its documents, so the first place of a word is the
  // earliest of its threads'.
  std::vector<std::string> fitted_on_training_documents(const VocabularySource& source) const {
    Words all;
    std::vector<Seen> seen;
    for (const auto& reader : readers_)
      for (std::size_t i = 0; i < reader.words.size(); ++i) {
        const auto word = all.add(reader.words[i]);
        if (word == seen.size()) seen.push_back({});
        auto& known = seen[word];
        const auto count = known.count + reader.seen[i].count;
        if (reader.seen[i].before(known)) known = reader.seen[i];
        known.count = count;
      }
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < seen.size(); ++i)
      if (seen[i].count > 0) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return seen[a].before(seen[b]); });
    std::vector<TokenCount> counts;
    for (const auto word : order) counts.push_back({all[word], seen[word].count});
    const std::vector<std::string_view> special(source.special.begin(), source.special.end());
    return make_vocabulary(std::move(counts), special, options_.vocabulary);
  }

  void number(TextPack& pack) const {
    const auto& source = tokenizer_.vocabulary();
    const auto unknown = std::find(pack.tokens.begin(), pack.tokens.end(), source.unknown);
    const Vocabulary vocabulary(pack.tokens,
                                unknown == pack.tokens.end() ? -1 : unknown - pack.tokens.begin());
    const auto numbers = numbers_of_words(vocabulary);
    reserve(pack);
    LongWork work("numbering tokens", static_cast<std::int64_t>(documents_.size()));
    for (std::size_t at = 0; at < documents_.size(); ++at) {
      const auto& from = documents_[at];
      auto& part = pack.parts[split_of(at)];
      if (at % documents_at_once == 0)
        work.did(static_cast<std::int64_t>(std::min(documents_at_once, documents_.size() - at)));
      if (from.left_out) continue;
      const auto& number = numbers[given_.empty() ? from.thread : 0];
      const auto put = part.ids.insert(part.ids.end(), from.words.begin(), from.words.end());
      std::transform(from.words.begin(), from.words.end(), put,
                     [&](std::uint32_t word) { return number[word]; });
      part.documents.push_back(document(at));
      part.ends.push_back(static_cast<std::int64_t>(part.ids.size()));
    }
  }

  /// In `vocabulary`: of each thread's words, or of the tokens that are given.
  std::vector<std::vector<std::int32_t>> numbers_of_words(const Vocabulary& vocabulary) const {
    std::vector<std::vector<std::int32_t>> numbers;
    const auto add_list = [&](const auto& words) {
      auto& list = numbers.emplace_back(words.size());
      for (std::size_t word = 0; word < words.size(); ++word)
        list[word] = static_cast<std::int32_t>(vocabulary.number(words[word]));
    };
    if (!given_.empty()) return add_list(given_), numbers;
    for (const auto& reader : readers_) add_list(reader.words);
    return numbers;
  }

  void reserve(TextPack& pack) const {
    std::array<std::size_t, 2> tokens{};
    for (std::size_t at = 0; at < documents_.size(); ++at)
      tokens[split_of(at)] += documents_[at].words.size();
    for (std::size_t split = 0; split < 2; ++split) pack.parts[split].ids.reserve(tokens[split]);
  }

  void note(TextPack& pack) const {
    note(pack, "not UTF-8 text or without a token, and left out", &Read::left_out);
    note(pack, "not UTF-8 text; U+FFFD stands for bytes that are not", &Read::replaced);
    note(pack, "empty", &Read::blank);
  }

  void note(TextPack& pack, const std::string& what, bool Read::*mark) const {
    std::int64_t count = 0;
    std::size_t first = 0;
    for (std::size_t at = documents_.size(); at-- > 0;)
      if (documents_[at].*mark) {
        ++count;
        first = at;
      }
    if (count == 0) return;
    pack.notes.push_back(plural(count, "document") + (count == 1 ? " is " : " are ") + what +
                         "; the first is '" + document(first).name + "'");
  }

  const Corpus& corpus_;
  const Tokenizer& tokenizer_;
  const NumericalizeOptions& options_;
  const std::vector<std::string> before_, after_;
  const std::vector<std::string>& given_;  // tokens by id; empty: they are found in the texts
  const std::vector<std::uint32_t> ids_before_, ids_after_;
  const std::size_t train_;
  std::vector<Read> documents_;  // train, then valid
  std::vector<TextReader> readers_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex error_lock_;
  std::exception_ptr error_;
  std::size_t error_at_ = 0;
};

}  // namespace

TextPack numericalize(const Corpus& corpus, const Tokenizer& tokenizer,
                      const NumericalizeOptions& options) {
  return Numericalizer(corpus, tokenizer, options).run();
}

}  // namespace ddptrain
