#include "sources/tokens/block_options.h"

#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(BlockLayout) {
  return kNameList<"streams", "shuffled", "packed">;
}
std::span<const std::string_view> names(LongDocument) { return kNameList<"error", "cut", "split">; }

void BlockOptions::fields(Fields& f) {
  f("layout", layout,
    {.doc = "streams: all documents are one text, cut into as many streams as a batch has rows, "
            "and each row continues that of the batch before (fastai's LMDataLoader). shuffled: "
            "the same text in blocks that are shuffled (run_clm's group_texts). packed: whole "
            "documents, several in a block, none of which reads another."});
  f("length", length, {.doc = "Tokens of a sample.", .min = 1, .unit = "tokens"});
  f("long", long_document,
    {.doc = "packed: what becomes of a document that is longer than a block. cut: its end is left "
            "out. split: its parts become documents."});
  f("backwards", backwards,
    {.doc = "Read every document from its end, as fastai's backwards=True."});
  f("end", end,
    {.doc = "A token of the vocabulary that is put behind each document.",
     .example = "<|endoftext|>"});
  f.require(needs(is("long", "cut"), is("layout", "packed")));
  f.require(needs(is("long", "split"), is("layout", "packed")));
}

}  // namespace ddptrain
