// How many operators of the device, about one kernel each, a forward and a backward pass may take:
// the one table that a change of a model or layer has to edit knowingly. Sizes do not matter to the
// counts, so that large networks are made small. The simulated device has no fused attention: where
// CUDA has one kernel, it counts about ten, and of an LSTM it counts every step.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace ddptrain::test {

enum class Sample { image, digit, text, row, rating };

struct KernelBudget {
  std::string model;  // a recipe of recipes/, or a model of the catalog
  Sample sample;
  std::int64_t operators;
  std::vector<std::string> overrides = {};  // of the recipe
};

inline void PrintTo(const KernelBudget& row, std::ostream* out) { *out << row.model; }

inline const std::vector<KernelBudget>& kernel_budgets() {
  // Eleven tokens in segments of four.
  static const std::vector<std::string> short_texts{"model.emb_sz=8", "model.n_hid=8",
                                                    "model.bptt=4", "model.max_len=8"};
  static const std::vector<std::string> small_language_model{"model.emb_sz=8", "model.n_hid=8"};
  static const std::vector<KernelBudget> all{
      {"recipes/adult.yaml", Sample::row, 31},
      {"recipes/biwi-tiny.yaml", Sample::image, 32},
      {"recipes/biwi.yaml", Sample::image, 141},
      {"recipes/camvid-tiny.yaml", Sample::image, 262},
      {"recipes/camvid.yaml", Sample::image, 349},
      {"recipes/cifar10-fine-tune.yaml", Sample::image, 118},
      {"recipes/cifar10.yaml", Sample::image, 118},
      {"recipes/gpt2-small.yaml", Sample::text, 336, {"model.n_embd=48"}},
      {"recipes/gpt2-tiny.yaml", Sample::text, 136},
      {"recipes/houses.yaml", Sample::row, 36},
      {"recipes/image-regression.yaml", Sample::image, 30},
      {"recipes/imagenette-20.yaml", Sample::image, 716},
      {"recipes/imagenette-200.yaml", Sample::image, 708},
      {"recipes/imagenette-5.yaml", Sample::image, 716},
      {"recipes/imagenette-80.yaml", Sample::image, 708},
      {"recipes/imagenette-noisy.yaml", Sample::image, 708},
      {"recipes/imagenette-resnet18.yaml", Sample::image, 118},
      {"recipes/imagenette.yaml", Sample::image, 425},
      {"recipes/imagewoof-distrib.yaml", Sample::image, 307},
      {"recipes/imagewoof.yaml", Sample::image, 425},
      {"recipes/imdb-bag.yaml", Sample::text, 28},
      {"recipes/imdb-transformer.yaml", Sample::text, 166},
      {"recipes/imdb.yaml", Sample::text, 1112, short_texts},
      {"recipes/mnist.yaml", Sample::digit, 24},
      {"recipes/movielens.yaml", Sample::rating, 21},
      {"recipes/pets.yaml", Sample::image, 224},
      {"recipes/ratings.yaml", Sample::rating, 21},
      {"recipes/shapes-sweep.yaml", Sample::image, 39},
      {"recipes/shapes.yaml", Sample::image, 39},
      {"recipes/ulmfit-general.yaml", Sample::text, 1230, small_language_model},
      {"recipes/ulmfit-imdb-lm.yaml", Sample::text, 1230, small_language_model},
      {"recipes/ulmfit-imdb.yaml", Sample::text, 1112, short_texts},
      {"convnext_tiny", Sample::image, 453},
      {"deeplabv3", Sample::image, 336},
      {"efficientnet_b0", Sample::image, 597},
      {"fcn", Sample::image, 298},
      {"resnet50", Sample::image, 291},
      {"swin_t", Sample::image, 1018},
      {"unet", Sample::image, 349},
      {"vit_b_16", Sample::image, 437},
  };
  return all;
}

}  // namespace ddptrain::test
