#include "sources/remote/address.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace ddptrain {
namespace {

TEST(Address, IsOfOneOfFourKinds) {
  for (const auto* url : {"s3://b/k", "gs://b/k", "https://host/k", "http://host/k"})
    EXPECT_TRUE(is_address(url)) << url;
  for (const auto* path : {"data/s3", "/s3:/b", "ftp://host/k", "file:///k", "hdfs://a/b"})
    EXPECT_FALSE(is_address(path)) << path;
}

TEST(Address, HasABucketAndAKey) {
  EXPECT_EQ(bucket_of("s3://b/k/a.tar"), "s3://b");
  EXPECT_EQ(key_of("s3://b/k/a.tar"), "k/a.tar");
  EXPECT_EQ(key_of("gs://b"), "");
  EXPECT_EQ(key_of("s3://b/k/./a//"), "k/a");
  EXPECT_EQ(normal_address("s3://b/k/./a/"), "s3://b/k/a");
  EXPECT_EQ(normal_address("https://host/k//a/"), "https://host/k//a/");
}

// docs.aws.amazon.com, "Virtual hosting of general purpose buckets": the certificate of
// *.s3.REGION.amazonaws.com is for no bucket with a dot.
TEST(Address, IsRequestedFromTheServiceOfItsBucket) {
  StoreSpec store;
  store.region = "eu-west-1";
  EXPECT_EQ(request_url("s3://b/k/a b.tar", store),
            "https://b.s3.eu-west-1.amazonaws.com/k/a%20b.tar");
  EXPECT_EQ(request_url("s3://a.b/k.tar", store), "https://s3.eu-west-1.amazonaws.com/a.b/k.tar");
  EXPECT_EQ(request_url("gs://b/k.tar", store), "https://storage.googleapis.com/b/k.tar");
  store.endpoint = "http://127.0.0.1:9000/";
  EXPECT_EQ(request_url("s3://b/k.tar", store), "http://127.0.0.1:9000/b/k.tar");
  EXPECT_EQ(request_url("gs://b/k.tar", store), "http://127.0.0.1:9000/b/k.tar");
}

TEST(Address, OfAWebServerStaysButForWhatNoUrlHas) {
  EXPECT_EQ(request_url("https://host/k.tar?x=1", {}), "https://host/k.tar?x=1");
  EXPECT_EQ(request_url("https://host/a%20b c.tar", {}), "https://host/a%20b%20c.tar");
}

// A query is signed in the order of its names (AWS Signature Version 4).
TEST(Address, OfAListHasItsQueryInOrder) {
  StoreSpec store;
  store.endpoint = "https://host";
  EXPECT_EQ(list_url("s3://b/k", {"k/a b-", "", 1000}, store),
            "https://host/b/?delimiter=%2F&list-type=2&max-keys=1000&prefix=k%2Fa%20b-");
  EXPECT_EQ(list_url("s3://b", {"", "a+/=", 2}, store),
            "https://host/b/?continuation-token=a%2B%2F%3D&delimiter=%2F&list-type=2&max-keys=2&"
            "prefix=");
}

TEST(Address, WithoutAnEndpointHasTheOneOfTheEnvironment) {
  ::setenv("AWS_ENDPOINT_URL", "https://all", 1);
  EXPECT_EQ(request_url("s3://b/k", {}), "https://all/b/k");
  ::setenv("AWS_ENDPOINT_URL_S3", "https://s3.example.org", 1);
  EXPECT_EQ(request_url("s3://b/k", {}), "https://s3.example.org/b/k");
  EXPECT_EQ(request_url("gs://b/k", {}), "https://storage.googleapis.com/b/k");
  ::unsetenv("AWS_ENDPOINT_URL");
  ::unsetenv("AWS_ENDPOINT_URL_S3");
}

TEST(Address, LeadsOutOfNoBucket) {
  try {
    request_url("s3://b/k/../../other/a.tar", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "cannot read 's3://b/k/../../other/a.tar': a key of a bucket has no '..'");
  }
}

}  // namespace
}  // namespace ddptrain
