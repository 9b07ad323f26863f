// A page of a bucket's list: the answer to ListObjectsV2, as Amazon S3 and what speaks its protocol
// send it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

struct ListedObject {
  std::string key;
  std::uint64_t size = 0;     // bytes
  std::string tag = {};       // ETag, with its quotes
  std::string modified = {};  // LastModified, as it is written
};

struct ListPage {
  std::vector<ListedObject> objects;
  std::vector<std::string> prefixes;  // CommonPrefixes: folders, each with its '/'
  bool truncated = false;             // there are more pages
  std::string next = {};              // NextContinuationToken
  std::string why = {};               // why the page cannot be read; empty: it was
};

/// Reads XML 1.0 in UTF-8 without a document type, in time and memory linear in its length.
/// Elements that are not named above are skipped. A page that is cut, is not XML, is nested more
/// than 16 deep, lists an object without a key or a size, or is another document has a `why`.
ListPage parse_list_page(std::string_view xml);

/// The <Code> of an error that a store answers: "AccessDenied". Empty where there is none.
std::string error_code_of(std::string_view body);

}  // namespace ddptrain
