// Whether the rows of a file are asked for what the model is to say of them.
#pragma once

namespace ddptrain {

/// unknown: rows to predict; they may have labels, which are not read, nor what splits them.
enum class Labels { known, unknown };

}  // namespace ddptrain
