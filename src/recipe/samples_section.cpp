#include "recipe/samples_section.h"

namespace ddptrain {

void SamplesSpec::fields(Fields& f) {
  f("prompts", prompts,
    {.doc = "Texts that are continued; auto: the beginnings of the first documents of the "
            "validation split.",
     .example = "[The film]",
     .min_items = 1});
  f("count", count, {.doc = "How many documents 'prompts: auto' takes; null: 3.", .min = 1});
  f("tokens", tokens,
    {.doc = "At most so many of each text; auto: 64, or as many as fit.", .min = 1});
  sampling.fields(f);
  f("seed", seed, {.doc = "Another number gives other texts.", .min = 0});
  f("stop", stop, {.doc = "A text ends before this one.", .example = "The end", .min_items = 1});
  f.require(needs("count", is("prompts", "auto")));
}

}  // namespace ddptrain
