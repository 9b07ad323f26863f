#include "recipe/plugin_spec.h"

namespace ddptrain {

void PluginSpec::fields(Fields& f) {
  f("file", file,
    {.doc = "Shared library that 'ddptrain plugin new' begins; its code runs in this program.",
     .required = true,
     .path = true});
  f("sha256", sha256,
    {.doc = "Digest that the file must have; null: any. A run notes that of its start, and is "
            "resumed with the same file alone."});
}

}  // namespace ddptrain
