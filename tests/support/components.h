// The components of the committed schemas, without their classes: for tests without torch.
#pragma once

#include "base/files/files.h"
#include "cli/documents/components.h"
#include "support/where.h"

namespace ddptrain::test {

inline const Catalogs& committed_catalogs() {
  static const std::string text = read_text(in_source("schemas/components.json"));
  static const Components components(text);
  return components.catalogs();
}

}  // namespace ddptrain::test
