#include "models/vision/body.h"

#include "base/error.h"

namespace ddptrain {

void Body::take(const std::string& name, std::unique_ptr<Module> child) {
  names[name + "."] = std::to_string(layers->children().size()) + ".";
  layers->append(std::move(child));
}

void Body::divide(const std::vector<Module*>& modules, std::size_t first) {
  const auto cut = modules.begin() + static_cast<std::ptrdiff_t>(first);
  groups = {{modules.begin(), cut}, {cut, modules.end()}};
}

Body Model::take_features(std::size_t first) {
  Body body;
  body.take("features", take("features"));
  if (first > 0)
    body.divide(body.layers->children().front()->children(), first);
  else
    body.groups = {body.layers->children()};
  return body;
}

Body Model::take_body() { return take_features(); }

}  // namespace ddptrain
