#include "sources/text/text_options.h"

#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(Truncate) { return kNameList<"end", "start">; }
std::span<const std::string_view> names(InvalidUtf8) { return kNameList<"error", "replace">; }

void TextOptions::fields(Fields& f) {
  f("tokenizer", tokenizer, {.doc = "Text to tokens."});
  f("vocabulary", vocabulary,
    {.doc = "Which tokens of the training texts are known, where the tokenizer brings none."});
  f("max_length", max_length,
    {.doc = "Longer documents are cut off at so many tokens; null keeps them whole.",
     .min = 3,
     .unit = "tokens"});
  f("truncate", truncate, {.doc = "Which end of too long a document is cut off."});
  f("padding", padding, {.doc = "How short rows of a batch are filled up."});
  f("backwards", backwards,
    {.doc = "Read every document from its end, as fastai's backwards=True; of a language model it "
            "is 'blocks.backwards'."});
  f("blocks", blocks, {.doc = "language_model: how documents become samples."});
  f("cache", cache,
    {.doc = "Folder for the texts as numbers, made once; null: ddptrain/text in the user's cache "
            "folder ($XDG_CACHE_HOME, ~/.cache).",
     .path = true});
  section.fields(f);
}

}  // namespace ddptrain
