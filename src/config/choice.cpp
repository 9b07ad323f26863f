#include "config/choice.h"

#include "base/error.h"

namespace ddptrain {

ChoiceBase::ChoiceBase(std::string kind, std::string type) : kind_(std::move(kind)) {
  choose(Node::scalar(std::move(type)));
}

std::string ChoiceBase::type() const {
  const auto* type = node_.find("type");
  return type ? type->text : std::string();
}

void ChoiceBase::choose(Node node) {
  if (node.is_scalar()) {
    const auto place = node.place;
    node = Node::map({{"type", place, std::move(node)}}, place);
  }
  DDP_CHECK(node.is_map() && node.find("type") != nullptr, "a " + kind_ + " without a type");
  node_ = std::move(node);
}

}  // namespace ddptrain
