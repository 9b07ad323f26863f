#include "jobs/predict/given_lines.h"

#include "base/error.h"
#include "base/text.h"
#include "config/decode.h"
#include "sources/text/text_records.h"

namespace ddptrain {
namespace {

InvalidUtf8 invalid_utf8_of(const Recipe& recipe) {
  const auto* node = recipe.data.node().find("invalid_utf8");
  return node && node->text == "replace" ? InvalidUtf8::replace : InvalidUtf8::error;
}

/// A line is the one field that rows of this run have.
std::function<std::string(const std::string&)> text_of_line(const Recipe& recipe) {
  if (!recipe.data.node().find("file")) return [](const std::string& line) { return line; };
  const auto options = decode<TextRecordOptions>(recipe.data.node());
  if (options.text.size() > 1)
    throw Error(Exit::recipe,
                "'-': a line of stdin is one text, and a text of this run has {} fields ({}); "
                "write them to a file",
                options.text.size(), join(options.text, ", "));
  return [options](const std::string& line) { return joined_fields({line}, options); };
}

}  // namespace

GivenLines::GivenLines(const Recipe& recipe, const SavedData& saved)
    : text_of_(text_of_line(recipe)) {
  DataContext context;
  context.fitted = saved.fitted;
  context.classes.names = saved.classes;
  texts_ = std::make_shared<LineTexts>(decode<TextOptions>(recipe.data.node()),
                                       invalid_utf8_of(recipe), context);
}

PredictionInput GivenLines::input(std::shared_ptr<const NumberedLines> lines) const {
  PredictionInput input;
  input.name = "'-'";
  input.open = [lines, text_of = text_of_, texts = texts_] {
    NumberedLines fields{lines->first, {}};
    for (const auto& line : lines->texts) fields.texts.push_back(text_of(line));
    return texts->dataset(fields);
  };
  return input;
}

}  // namespace ddptrain
