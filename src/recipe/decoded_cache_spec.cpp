#include "recipe/decoded_cache_spec.h"

#include "config/constraint.h"

namespace ddptrain {

void DecodedCacheSpec::fields(Fields& f) {
  f("decoded", decoded,
    {.doc = "Decode each image once: its pixels are kept in a file that all ranks and later runs "
            "on this machine read. Batches are the same."});
  f("size", size,
    {.doc = "Bytes that the file may have: width times height times 3 of each image; the images "
            "that find no room are decoded each time."});
  f("folder", folder,
    {.doc = "Folder on a local disk for the file; null: images in the user's cache folder.",
     .path = true});
  f.require(needs("folder", "decoded"));
  f.require(needs(is_not("size", "8 GiB"), "decoded"));
}

}  // namespace ddptrain
