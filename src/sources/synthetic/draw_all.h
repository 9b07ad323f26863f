// Images of a synthetic data set, drawn on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace ddptrain {

/// Calls draw(0) to draw(count - 1), each once, in any order and on several threads. What a call or
/// a listener of progress() throws ends the work and is thrown here: that of the lowest number.
void draw_all(std::size_t count, const std::function<void(std::size_t)>& draw);

}  // namespace ddptrain
