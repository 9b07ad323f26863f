// What people of other tools write, and what it is called here.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain {

/// "train.duration, as in '5 epochs'" for "max_epochs"; empty when we know nothing.
std::string foreign_key_hint(std::string_view key);

}  // namespace ddptrain
