// A change of an image that happens with some probability, as torchvision's Random... transforms.
#pragma once

#include <memory>
#include <string>

#include "transforms/transform.h"

namespace ddptrain {

/// Options have a member `p`; `change` is what happens.
template <class Options>
class RandomChange final : public Transform {
 public:
  using Change = void (*)(Image&, const Options&);
  RandomChange(const Options& options, Change change) : options_(options), change_(change) {}
  void apply(Image& image, Stream& random) const override {
    if (random.uniform() < options_.p) change_(image, options_);
  }

 private:
  Options options_;
  Change change_;
};

inline void chance_field(Fields& f, double& p) {
  f("p", p, {.doc = "How likely it is.", .min = 0, .max = 1});
}

struct ChanceOptions {
  double p = 0.5;
  void fields(Fields& f) { chance_field(f, p); }
};

template <class Options>
Entry<Transform> change_entry(std::string name, std::string doc,
                              typename RandomChange<Options>::Change change) {
  return entry<Transform, Options>(std::move(name), std::move(doc),
                                   [change](const Options& options) {
                                     return std::make_unique<RandomChange<Options>>(options,
                                                                                    change);
                                   },
                                   {"random", "before_normalize"});
}

}  // namespace ddptrain
