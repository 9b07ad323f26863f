// What `plugin new` writes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddptrain {

/// Names of files and their texts for a plug-in called `name`, which holds lower-case letters,
/// digits and '_'. `home` is the folder where ddptrain is installed.
std::vector<std::pair<std::string, std::string>> plugin_template(const std::string& name,
                                                                 const std::string& home);

}  // namespace ddptrain
