// Components without classes, for tests of whatever knows only their shapes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/catalog.h"

namespace ddptrain::test {

class Bare final : public CatalogBase {
 public:
  Bare(std::string kind, std::vector<EntryBase> entries)
      : CatalogBase(std::move(kind)), entries_(std::move(entries)) {}
  std::size_t size() const override { return entries_.size(); }
  const EntryBase& at(std::size_t index) const override { return entries_[index]; }

 private:
  std::vector<EntryBase> entries_;
};

template <class Options>
EntryBase bare(std::string name, std::vector<std::string> traits = {}) {
  return {std::move(name), "For tests.", std::move(traits), lazy_shape([](Fields& f) {
            Options fresh;
            fresh.fields(f);
          })};
}

}  // namespace ddptrain::test
