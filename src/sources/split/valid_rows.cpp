#include "sources/split/valid_rows.h"

namespace ddptrain {

void ValidRows::fields(Fields& f) {
  f("column", column,
    {.doc = "Column that says 'train' or 'valid'; also false and true, 0 and 1, as fastai's "
            "ColSplitter reads is_valid."});
  f("rows", rows,
    {.doc = "The rows that are held out instead, from 0 below the header.", .min = 0});
  f("fold", fold, {.doc = "One of several folds of the rows instead."});
  const bool replaced = column || !rows.empty() || fold;
  if (replaced) fraction.reset();  // the default: one that is written is read again here
  f("fraction", fraction,
    {.doc = "Share of the rows that is held out, where nothing else says which.",
     .min = 0,
     .max = 1,
     .above_min = true,
     .below_max = true});
  f("seed", seed, {.doc = "Which rows a fraction or a fold holds out.", .min = 0});
  f("order", order,
    {.doc = "'torch' divides as torch's random_split, 'fastai' as fastai's RandomSplitter."});
  f.require(exactly_one({"fraction", "column", "rows", "fold"}));
  f.require(needs("fold", is("order", "philox")));
}

}  // namespace ddptrain
