// A few made-up components, so that recipes can be checked without the real ones.
#pragma once

#include "config/catalog.h"
#include "recipe/data_section.h"
#include "support/bare.h"

namespace ddptrain::testing_recipes {

struct SgdOptions {
  double lr = 0.1;
  double momentum = 0;
  double weight_decay = 0;
  std::vector<std::string> no_decay;
  void fields(Fields& f) {
    f("lr", lr, {.doc = "Rate.", .min = 0, .above_min = true});
    f("momentum", momentum, {.doc = "Momentum.", .min = 0, .max = 1, .below_max = true});
    f("weight_decay", weight_decay, {.doc = "Decay.", .min = 0});
    f("no_decay", no_decay, {.doc = "Left alone."});
  }
};

struct ResizeOptions {
  std::int64_t size = 0;
  void fields(Fields& f) { f("size", size, {.doc = "Pixels.", .min = 1, .required = true}); }
};

struct FolderOptions {
  std::string root;
  std::vector<Choice<Transform>> transforms;
  DataSection section;
  void fields(Fields& f) {
    f("root", root, {.doc = "The folder.", .required = true, .path = true});
    f("transforms", transforms, {.doc = "What happens to an image."});
    section.fields(f);
  }
};

struct CycleOptions {
  std::optional<Duration> warmup;
  void fields(Fields& f) { f("warmup", warmup, {.doc = "How long the rate rises."}); }
};

using test::Bare;
using test::bare;

inline const Catalogs& catalogs() {
  static const Bare model("model",
                          {bare<NoOptions>("resnet", {"batch_norm"}), bare<NoOptions>("mlp")});
  static const Bare data("data", {bare<FolderOptions>("image_folder")});
  static const Bare transform("transform",
                              {bare<ResizeOptions>("resize"), bare<NoOptions>("flip")});
  static const Bare sampler("sampler", {bare<NoOptions>("shuffle")});
  static const Bare optimizer("optimizer",
                              {bare<SgdOptions>("sgd", {"momentum"}), bare<NoOptions>("plain")});
  static const Bare schedule(
      "schedule", {bare<CycleOptions>("constant"), bare<CycleOptions>("one_cycle", {"momentum"})});
  static const Bare loss("loss", {bare<NoOptions>("cross_entropy")});
  static const Bare metric("metric", {bare<NoOptions>("accuracy"), bare<NoOptions>("top_k")});
  static const Bare clip("clip", {bare<NoOptions>("norm")});
  static const Bare callback("callback", {bare<NoOptions>("early_stopping")});
  static const Catalogs all{{"model", &model},         {"data", &data},
                            {"transform", &transform}, {"sampler", &sampler},
                            {"optimizer", &optimizer}, {"schedule", &schedule},
                            {"loss", &loss},           {"metric", &metric},
                            {"clip", &clip},           {"callback", &callback}};
  return all;
}

}  // namespace ddptrain::testing_recipes
