#include "data/text/text_dataset.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/json.h"
#include "base/output/log.h"
#include "base/text.h"
#include "config/encode.h"
#include "data/preview.h"
#include "data/tokens/token_dataset.h"
#include "data/unknown.h"
#include "sources/text/text_cache.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace ddptrain {
namespace {

/// Below this folder lie the numbers of texts; the number counts changes of what is in them.
constexpr const char* format = "texts 1";

class TextDataset final : public Dataset, public CountsUnknown {
 public:
  TextDataset(PackedText text, const PaddingOptions& padding, FittedText fitted, bool backwards)
      : text_(std::move(text)),
        padding_(padding),
        fitted_(std::move(fitted)),
        backwards_(backwards) {
    facts_.classes = text_.classes();
    facts_.cardinalities = {static_cast<std::int64_t>(text_.tokens().size())};
    facts_.padding = text_.padding();
    facts_.numbers = text_.regression() ? 1 : 0;
  }

  const DataFacts& facts() const override { return facts_; }
  std::int64_t size(Split split) const override { return text_.size(number(split)); }
  std::int64_t length(Split split, std::int64_t index) const override {
    return static_cast<std::int64_t>(document(split, index).size());
  }

  Batch allocate(Split split, std::int64_t rows) const override {
    return allocate_length(split, rows, 1);
  }
  Batch allocate_length(Split, std::int64_t rows, std::int64_t length) const override {
    Batch batch;
    batch.rows = rows;
    batch.inputs = {at::empty({rows, padded_length(length, padding_)}, at::kLong)};
    batch.targets = {at::empty({rows}, text_.regression() ? at::kFloat : at::kLong)};
    return batch;
  }

  bool load(Split split, std::int64_t index, const Draw&, Batch& batch,
            std::int64_t row) const override {
    const auto width = batch.inputs[0].size(1);
    auto* ids = batch.inputs[0].mutable_data_ptr<std::int64_t>() + row * width;
    std::vector<std::int32_t> turned;
    auto tokens = document(split, index);
    if (backwards_) {
      turned.assign(tokens.rbegin(), tokens.rend());
      tokens = turned;
    }
    fill_row(tokens, {ids, static_cast<std::size_t>(width)}, text_.padding(), padding_);
    if (text_.regression())
      batch.targets[0].mutable_data_ptr<float>()[row] = static_cast<float>(number_of(split, index));
    else
      batch.targets[0].mutable_data_ptr<std::int64_t>()[row] = label(split, index);
    return true;
  }

  std::string sample_name(Split split, std::int64_t index) const override {
    return text_.name(number(split), static_cast<std::size_t>(index));
  }
  std::int64_t label(Split split, std::int64_t index) const override {
    return text_.label(number(split), static_cast<std::size_t>(index));
  }
  Preview preview(Split split, std::int64_t index, const Draw&) const override {
    Preview shown;
    shown.name = sample_name(split, index);
    const auto known = label(split, index);
    if (known >= 0)
      shown.cells.emplace_back("label", facts_.classes.at(static_cast<std::size_t>(known)));
    if (text_.regression())
      shown.cells.emplace_back("number", format_number(number_of(split, index)));
    std::string words;
    for (const auto id : document(split, index))
      words += (words.empty() ? "" : " ") + text_.tokens().at(static_cast<std::size_t>(id));
    shown.cells.emplace_back("tokens", words);
    return shown;
  }
  std::string state() const override { return fitted_.state; }
  std::vector<UnknownValues> unknown(Split split) const override {
    const auto& tokens = text_.tokens();
    const auto found = std::find(tokens.begin(), tokens.end(), fitted_.unknown);
    if (found == tokens.end()) return {};
    UnknownValues words{"", *found};
    for (std::int64_t i = 0; i < size(split); ++i) {
      const auto ids = document(split, i);
      const auto count = std::count(ids.begin(), ids.end(), found - tokens.begin());
      words.values += count;
      words.of += std::ssize(ids);
      words.samples += count > 0;
    }
    return words.values > 0 ? std::vector{words} : std::vector<UnknownValues>();
  }
  std::string digest() const override { return text_.digest(); }

 private:
  static std::size_t number(Split split) { return static_cast<std::size_t>(split); }
  double number_of(Split split, std::int64_t index) const {
    return text_.number(number(split), static_cast<std::size_t>(index));
  }
  std::span<const std::int32_t> document(Split split, std::int64_t index) const {
    return text_.document(number(split), static_cast<std::size_t>(index));
  }

  PackedText text_;
  PaddingOptions padding_;
  FittedText fitted_;
  bool backwards_;
  DataFacts facts_;
};

/// What the checkpoint of a run says of its tokens.
std::vector<std::string> fitted_tokens(const std::string& fitted, const Tokenizer& tokenizer) {
  if (fitted.empty()) return {};
  const auto state = parse_json(fitted);
  if (state.at("tokenizer") != tokenizer.digest())
    throw Error(Exit::recipe, Option{"data.tokenizer"},
                "it gives other tokens than the one that the model was trained with");
  auto tokens = state.at("vocabulary").get<std::vector<std::string>>();
  const bool pads = tokenizer.vocabulary().padding.empty();
  if (pads && (tokens.empty() || tokens.back() != kOwnPadding)) tokens.emplace_back(kOwnPadding);
  return tokens;
}

/// The documents of known classes, with the numbers of these; `note` says what was left out.
Corpus numbered(Corpus all, const KnownClasses& known, std::string& note) {
  if (all.regression) return all;
  const auto trained = all.classes.begin() + static_cast<std::ptrdiff_t>(all.trained);
  ClassNumbers numbers(known, {all.classes.begin(), trained});
  std::array<std::vector<std::size_t>, 2> kept;
  for (std::size_t split = 0; split < 2; ++split) {
    std::vector<Document> documents;
    for (std::size_t i = 0; i < all.documents[split].size(); ++i) {
      auto document = std::move(all.documents[split][i]);
      if (document.label >= 0) {
        const auto& name = all.classes[static_cast<std::size_t>(document.label)];
        const auto number = numbers.of(name, document.name);
        if (!number) continue;
        document.label = *number;
      }
      kept[split].push_back(i);
      documents.push_back(std::move(document));
    }
    all.documents[split] = std::move(documents);
  }
  all.classes = numbers.names();
  note = numbers.left_out();
  all.read = [kept = std::move(kept), read = std::move(all.read)](
                 std::size_t split, std::size_t index) { return read(split, kept[split][index]); };
  return all;
}

/// A source of documents, and the classes that their labels are numbers of.
struct ClassedSource {
  const CorpusSource& source;
  const KnownClasses& classes;

  TextPack numericalized(const Tokenizer& tokenizer, const NumericalizeOptions& how) const {
    std::string note;
    auto pack = numericalize(numbered(source.open(), classes, note), tokenizer, how);
    if (!note.empty()) pack.notes.push_back(note);
    return pack;
  }
};

std::string key_of(const ClassedSource& source, const TextOptions& options,
                   const NumericalizeOptions& made, const std::string& tokenizer) {
  const Json key{format,
                 tokenizer,
                 options.vocabulary.min_freq,
                 options.vocabulary.max_vocab,
                 options.max_length.value_or(0),
                 static_cast<int>(options.truncate),
                 static_cast<int>(made.invalid_utf8),
                 made.skip_bad,
                 made.fitted,
                 source.classes.names,
                 source.classes.skip_unknown,
                 sha256(source.source.key)};
  return sha256(lossy_json_text(key));
}

PackedText numbers(const ClassedSource& source, const TextOptions& options,
                   const Tokenizer& tokenizer, const NumericalizeOptions& how) {
  const auto folder = options.cache.value_or(default_text_cache());
  // A resumed run finds what it wrote at its start, if the vocabulary is still the same.
  if (!how.fitted.empty()) {
    auto fresh = how;
    fresh.fitted.clear();
    const KnownClasses own{{}, source.classes.skip_unknown};
    const auto key = key_of({source.source, own}, options, fresh, tokenizer.digest());
    auto found = PackedText::open(text_cache_file(folder, key));
    const auto& classes = source.classes.names;
    if (found && found->tokens() == how.fitted && (classes.empty() || found->classes() == classes))
      return std::move(*found);
  }
  return cached_text(folder, key_of(source, options, how, tokenizer.digest()),
                     [&] { return source.numericalized(tokenizer, how); });
}

/// As YAML with all defaults, for messages of another run that starts from these weights; where the
/// tokenizer's file lies is nothing that a checkpoint keeps.
Json tokenizer_options(Choice<Tokenizer> tokenizer) {
  const Catalogs catalogs{{kind_name<Tokenizer>, &catalog<Tokenizer>()}};
  const auto tree = encode([&](Fields& f) { f("tokenizer", tokenizer, {}); }, &catalogs);
  Json options = Json::object();
  for (const auto& [key, place, value] : tree.find("tokenizer")->members)
    if (key != "file") options[key] = to_flow(value);
  return options;
}

}  // namespace

NumericalizeOptions numericalize_options(const TextOptions& options, const Tokenizer& tokenizer,
                                         InvalidUtf8 invalid_utf8, const DataContext& context) {
  NumericalizeOptions how;
  how.vocabulary = options.vocabulary;
  how.max_length = options.max_length;
  how.truncate = options.truncate;
  how.invalid_utf8 = invalid_utf8;
  how.skip_bad = context.skip_bad_samples;
  how.threads = static_cast<int>(std::thread::hardware_concurrency());
  how.fitted = fitted_tokens(context.fitted, tokenizer);
  return how;
}

std::unique_ptr<Dataset> packed_texts(PackedText text, const PaddingOptions& padding,
                                      FittedText fitted, bool backwards) {
  return std::make_unique<TextDataset>(std::move(text), padding, std::move(fitted), backwards);
}

ReadTexts read_texts(const CorpusSource& source, const TextOptions& options,
                     InvalidUtf8 invalid_utf8, const DataContext& context) {
  const auto tokenizer = catalog<Tokenizer>().build(options.tokenizer);
  const auto how = numericalize_options(options, *tokenizer, invalid_utf8, context);
  const ClassedSource classed{source, context.classes};
  // Texts to predict are hardly read twice.
  auto text = context.unlabeled.empty()
                  ? numbers(classed, options, *tokenizer, how)
                  : PackedText::in_memory(classed.numericalized(*tokenizer, how));
  for (const auto& note : text.notes()) log::warning(note);
  TokenVocabulary vocabulary{
      text.tokens(),       Detokenizer(*tokenizer, text.tokens()).token_bytes(),
      text.padding(),      tokenizer->vocabulary().unknown,
      tokenizer->digest(), json_text(tokenizer_options(options.tokenizer))};
  vocabulary.bytes[static_cast<std::size_t>(text.padding())] = 0;
  return {std::move(text), std::move(vocabulary)};
}

std::unique_ptr<Dataset> make_text_dataset(const CorpusSource& source, const TextOptions& options,
                                           InvalidUtf8 invalid_utf8, const DataContext& context) {
  auto read = read_texts(source, options, invalid_utf8, context);
  auto data =
      packed_texts(std::move(read.text), options.padding,
                   {vocabulary_state(read.vocabulary), read.vocabulary.unknown}, options.backwards);
  if (!context.unlabeled.empty())
    for (const auto& words : unknown_values(*data, Split::valid)) log::info(to_text(words));
  return data;
}

}  // namespace ddptrain
