#include "data/text/text_lines.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "data/text/text_dataset.h"

namespace ddptrain {
namespace {

/// All lines, of which `texts` has those that can be used.
class LinesDataset final : public Dataset {
 public:
  struct Line {
    std::int64_t text = -1;  // number among the texts; -1: none, because of the error
    std::string error = {};
  };
  LinesDataset(std::unique_ptr<Dataset> texts, std::int64_t first, std::vector<Line> lines)
      : texts_(std::move(texts)), first_(first), lines_(std::move(lines)) {}

  const DataFacts& facts() const override { return texts_->facts(); }
  std::int64_t size(Split split) const override {
    return split == Split::valid ? std::ssize(lines_) : 0;
  }
  Batch allocate(Split split, std::int64_t rows) const override {
    return texts_->allocate(split, rows);
  }
  std::int64_t length(Split split, std::int64_t index) const override {
    const auto text = line(index).text;
    return text < 0 ? 1 : texts_->length(split, text);
  }
  Batch allocate_length(Split split, std::int64_t rows, std::int64_t length) const override {
    return texts_->allocate_length(split, rows, length);
  }
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override {
    if (line(index).text < 0) throw Error(Exit::data, line(index).error);
    return texts_->load(split, line(index).text, draw, batch, row);
  }
  std::string sample_name(Split, std::int64_t index) const override {
    return std::to_string(first_ + index);
  }
  std::string name_kind() const override { return kLineName; }
  std::int64_t label(Split, std::int64_t) const override { return -1; }
  std::string digest() const override { return texts_->digest(); }

 private:
  const Line& line(std::int64_t index) const { return lines_.at(static_cast<std::size_t>(index)); }

  std::unique_ptr<Dataset> texts_;
  std::int64_t first_;
  std::vector<Line> lines_;
};

std::string problem_of(const std::string& text, std::int64_t number) {
  const auto bad = find_invalid_utf8(text);
  return fmt::format("line {}: {}", number,
                     bad ? fmt::format("not UTF-8 text (byte {})", *bad + 1)
                         : "the tokenizer finds no token in it");
}

}  // namespace

LineTexts::LineTexts(const TextOptions& options, InvalidUtf8 invalid_utf8,
                     const DataContext& context)
    : tokenizer_(catalog<Tokenizer>().build(options.tokenizer)),
      padding_(options.padding),
      how_(numericalize_options(options, *tokenizer_, invalid_utf8, context)),
      classes_(context.classes.names) {
  how_.skip_bad = true;
}

LineTexts::~LineTexts() = default;

std::unique_ptr<Dataset> LineTexts::dataset(const NumberedLines& lines) const {
  Corpus corpus;
  corpus.classes = classes_;
  corpus.regression = classes_.empty();
  for (std::size_t i = 0; i < lines.texts.size(); ++i)
    corpus.documents[1].push_back({std::to_string(i), -1});
  corpus.read = [&](std::size_t, std::size_t index) { return lines.texts[index]; };
  const auto pack = numericalize(corpus, *tokenizer_, how_);
  std::vector<LinesDataset::Line> all(lines.texts.size());
  std::int64_t count = 0;
  for (const auto& kept : pack.parts[1].documents) all.at(std::stoul(kept.name)).text = count++;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].text < 0)
      all[i].error = problem_of(lines.texts[i], lines.first + static_cast<std::int64_t>(i));
  return std::make_unique<LinesDataset>(packed_texts(PackedText::in_memory(pack), padding_),
                                        lines.first, std::move(all));
}

}  // namespace ddptrain
