// Where in a person's text something stands.
#pragma once

#include <string>

namespace ddptrain {

/// A place in a file or on the command line. Lines and columns count characters from 1;
/// line 0 means the place is not known. `width` is how many characters a caret line underlines.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  int width = 1;
  bool known() const { return line > 0; }
};

}  // namespace ddptrain
