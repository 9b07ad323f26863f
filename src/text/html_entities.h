// The table behind text/html.h.
#pragma once

namespace ddptrain {

extern const char html_entities[];

}  // namespace ddptrain
