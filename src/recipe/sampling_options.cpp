#include "recipe/sampling_options.h"

namespace ddptrain {

void SamplingOptions::fields(Fields& f) {
  f("temperature", temperature,
    {.doc = "Scores are divided by it: below 1 likely tokens become likelier. 0: always the "
            "likeliest token.",
     .min = 0});
  f("top_k", top_k, {.doc = "Only the so many likeliest tokens; 0: all.", .min = 0});
  f("top_p", top_p,
    {.doc = "Only the likeliest tokens that together have this probability.",
     .min = 0,
     .max = 1,
     .above_min = true});
  f("min_p", min_p,
    {.doc = "Only tokens at least so likely as this part of the likeliest one's probability.",
     .min = 0,
     .max = 1});
  f("typical_p", typical_p,
    {.doc = "Only the tokens whose surprise is nearest to the expected one, up to this probability "
            "together.",
     .min = 0,
     .max = 1,
     .above_min = true});
  f("repetition_penalty", repetition_penalty,
    {.doc = "Scores of tokens that have occurred are divided by it, negative ones multiplied.",
     .min = 0,
     .above_min = true});
  f("no_repeat_ngram", no_repeat_ngram,
    {.doc = "No run of so many tokens occurs twice; 0: any may.", .min = 0});
}

}  // namespace ddptrain
