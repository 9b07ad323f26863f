// Options of the metrics F-beta.
#pragma once

#include "config/fields.h"

namespace ddptrain {

/// `Score`: the options of F1 for the same kind of rows.
template <class Score>
struct FbetaOptions {
  double beta = 1;
  Score score;
  void fields(Fields& f) {
    f("beta", beta,
      {.doc = "How many times as much recall counts.",
       .min = 0,
       .above_min = true,
       .required = true,
       .example = "2"});
    score.fields(f);
  }
};

}  // namespace ddptrain
