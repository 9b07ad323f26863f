#include "recipe/learning_rate.h"

namespace ddptrain {

void LearningRate::fields(Fields& f) {
  f("to", to,
    {.doc = "Rate of the last layer group, and of all where nothing else is said.", .min = 0});
  f("from", from,
    {.doc = "Rate of the first layer group; the others lie on a geometric row up to `to`.",
     .min = 0,
     .above_min = true});
  f("others", others,
    {.doc = "Rate of every layer group but the last, instead of a row.", .min = 0});
}

}  // namespace ddptrain
