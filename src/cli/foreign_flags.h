// Options of a recipe that a user writes as flags: --epochs 5, --optimizer.lr=0.1.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "config/catalog.h"

namespace ddptrain {

/// An Error (Exit::recipe) where one of the words behind a verb that takes key=value is such a
/// flag: how it is written, "train.duration='5 epochs'".
void refuse_options_as_flags(const Verb& verb, const std::vector<std::string>& words,
                             const Catalogs& catalogs);

}  // namespace ddptrain
