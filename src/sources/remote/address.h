// Addresses of files: s3://BUCKET/KEY, gs://BUCKET/KEY, https://HOST/PATH, http://HOST/PATH.
#pragma once

#include <string>
#include <string_view>

#include "recipe/store_spec.h"

namespace ddptrain {

/// Whether a path is an address of a kind that is read.
bool is_address(std::string_view path);

/// Whether an address is in a bucket of an object store (s3://, gs://), which can be listed.
bool is_in_bucket(std::string_view path);

/// An address in a message: without what may be secret in one of a web server.
std::string shown_address(const std::string& url);

/// "imagenet/train" of "s3://bucket/imagenet/./train/": without empty names and those that are '.'.
std::string key_of(const std::string& url);

/// One spelling for each file of a bucket; others stay.
std::string normal_address(const std::string& url);

/// "s3://bucket".
std::string bucket_of(const std::string& url);

/// The address that a file is requested from: ENDPOINT/BUCKET/KEY, or Amazon's
/// https://BUCKET.s3.REGION.amazonaws.com/KEY (https://s3.REGION.amazonaws.com/BUCKET/KEY where the
/// bucket's name has a dot), or Google's https://storage.googleapis.com/BUCKET/KEY. Others stay,
/// but for characters that no URL has. An Error (Exit::data) names a key with '..' between slashes,
/// which libcurl would resolve.
std::string request_url(const std::string& url, const StoreSpec& store);

/// What a request for a list says.
struct ListRequest {
  std::string prefix;      // of keys
  std::string token = {};  // of the page that comes next; empty: the first
  int most = 1000;         // keys of a page
};

/// The request for a page of a bucket's list (ListObjectsV2), its query in the order in which it is
/// signed (libcurl before 8.3 signs it as it is).
std::string list_url(const std::string& url, const ListRequest& request, const StoreSpec& store);

/// The region that requests for an address are signed for.
std::string region_of(const std::string& url, const StoreSpec& store);

}  // namespace ddptrain
