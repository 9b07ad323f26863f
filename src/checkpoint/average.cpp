#include "checkpoint/average.h"

#include "base/error.h"
#include "checkpoint/shape_text.h"

namespace ddptrain {
namespace {

[[noreturn]] void refuse(const std::string& source, const std::string& first,
                         const std::string& why) {
  throw Error(Exit::data, "'" + source + "' cannot be averaged with '" + first + "': " + why);
}

const at::Tensor& find(const std::vector<NamedTensor>& model, const NamedTensor& wanted,
                       const std::string& source, const std::string& first) {
  for (const auto& [name, tensor] : model) {
    if (name != wanted.name) continue;
    if (tensor.sizes() != wanted.tensor.sizes())
      refuse(source, first,
             "'" + name + "' is " + shape_text(tensor) + " there and " + shape_text(wanted.tensor) +
                 " here");
    return tensor;
  }
  refuse(source, first, "it has no '" + wanted.name + "'");
}

at::Tensor mean(const std::vector<at::Tensor>& tensors) {
  if (!tensors.back().is_floating_point()) return tensors.back();
  auto sum = tensors.front().to(at::kDouble, false, true);
  for (std::size_t i = 1; i < tensors.size(); ++i) sum += tensors[i];
  return sum.div_(static_cast<double>(tensors.size())).to(tensors.back().scalar_type());
}

}  // namespace

std::vector<NamedTensor> average_weights(const std::vector<std::vector<NamedTensor>>& models,
                                         const std::vector<std::string>& sources) {
  DDP_CHECK(!models.empty() && models.size() == sources.size(), "a source for each model");
  std::vector<NamedTensor> averaged;
  for (const auto& wanted : models.front()) {
    std::vector<at::Tensor> tensors;
    for (std::size_t i = 0; i < models.size(); ++i)
      tensors.push_back(find(models[i], wanted, sources[i], sources[0]));
    averaged.push_back({wanted.name, mean(tensors)});
  }
  for (std::size_t i = 1; i < models.size(); ++i)
    for (const auto& named : models[i]) find(models.front(), named, sources[0], sources[i]);
  return averaged;
}

}  // namespace ddptrain
