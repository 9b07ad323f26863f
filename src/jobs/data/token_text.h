// A sample of a language model as text.
#pragma once

#include <vector>

#include "base/output/color.h"
#include "data/preview.h"

namespace ddptrain {

/// How tokens that are only read are marked: they are faint, or in brackets.
enum class TokenMarks { color, brackets };

/// The sample's name and its tokens: '|' stands where a document begins.
std::vector<InkedText> token_text(const Preview& sample, TokenMarks marks);

}  // namespace ddptrain
