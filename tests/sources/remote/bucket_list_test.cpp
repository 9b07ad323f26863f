#include "sources/remote/bucket_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A page with these keys; those that end with '/' are folders.
std::string page_with(const std::vector<std::string>& keys, const std::string& next = {}) {
  std::string xml = "<ListBucketResult>";
  for (const auto& key : keys)
    xml += key.ends_with('/') && key != "d/"
               ? "<CommonPrefixes><Prefix>" + key + "</Prefix></CommonPrefixes>"
               : "<Contents><Key>" + key + "</Key><Size>1</Size></Contents>";
  if (!next.empty())
    xml += "<IsTruncated>true</IsTruncated><NextContinuationToken>" + next +
           "</NextContinuationToken>";
  return xml + "</ListBucketResult>";
}

struct Listing {
  BucketEntries found;
  std::vector<std::string> urls;
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& file : found.files) all.push_back(file.key);
    return all;
  }
};

Listing listed(std::deque<std::string> pages, const std::string& begin = {}, int most = 0) {
  Listing listing;
  StoreSpec store;
  store.endpoint = "https://host";
  const AskStore ask = [&](const HttpRequest& request) {
    listing.urls.push_back(request.url);
    if (pages.empty()) return HttpReply{.status = 599};
    auto page = pages.front();
    if (pages.size() > 1) pages.pop_front();
    return HttpReply{.status = 200, .body = page};
  };
  listing.found = list_bucket("s3://b/d", begin, store, ask, most);
  return listing;
}

std::string why_of(const std::vector<std::string>& keys) {
  return listed({page_with(keys)}).found.why;
}

TEST(BucketList, HasFilesAndFoldersOfAllPagesInOrder) {
  const auto listing = listed({page_with({"d/b.tar", "d/x/"}, "t 1"), page_with({"d/a.tar"}, "t2"),
                               page_with({"d/c.tar", "d/w/"})});
  EXPECT_EQ(listing.found.why, "");
  EXPECT_THAT(listing.keys(), ElementsAre("d/a.tar", "d/b.tar", "d/c.tar"));
  EXPECT_THAT(listing.found.folders, ElementsAre("d/w", "d/x"));
  ASSERT_EQ(listing.urls.size(), 3);
  EXPECT_THAT(listing.urls[1], HasSubstr("continuation-token=t%201&"));
}

TEST(BucketList, AsksForNamesThatBeginSo) {
  const auto listing = listed({page_with({"d/train-1.tar"})}, "train-");
  EXPECT_THAT(listing.urls[0], HasSubstr("prefix=d%2Ftrain-"));
  EXPECT_THAT(listing.keys(), ElementsAre("d/train-1.tar"));
}

TEST(BucketList, StopsAtTheFirstPageWhereOneIsEnough) {
  EXPECT_EQ(listed({page_with({"d/a"}, "t1")}, "", 1).urls.size(), 1);
}

TEST(BucketList, LeavesOutWhatStandsForAnEmptyFolder) {
  EXPECT_THAT(listed({page_with({"d/", "d/a.tar"})}).keys(), ElementsAre("d/a.tar"));
}

TEST(BucketList, RefusesKeysThatAreNoPaths) {
  EXPECT_EQ(why_of({"/etc/passwd"}), "the list has '/etc/passwd', which does not begin with 'd/'");
  EXPECT_EQ(why_of({"d/.."}), "the list has 'd/..', which is no path");
  EXPECT_EQ(why_of({"d/../a.tar"}), "the list has 'd/../a.tar', which is no path");
  EXPECT_EQ(why_of({"d//a.tar"}), "the list has 'd//a.tar', which is no path");
  EXPECT_EQ(why_of({"d/a/b.tar"}), "the list has 'd/a/b.tar', which lies in a folder below");
  EXPECT_EQ(why_of({"d/a.tar", "d/a.tar"}), "the list has 'd/a.tar', which it has twice");
  EXPECT_THAT(why_of({"d/a&#10;b.tar"}), HasSubstr("which is no path"));
  EXPECT_THAT(why_of({"d/a&#127;b.tar"}), HasSubstr("which is no path"));
}

TEST(BucketList, NamesOneThatDoesNotEnd) {
  EXPECT_EQ(listed({page_with({"d/a.tar"}, "same")}).found.why,
            "the store sends a page of the list again");
}

TEST(BucketList, NamesAnAnswerThatIsNoList) {
  const auto why = [](HttpReply reply) {
    return list_bucket("s3://b/d", "", {}, [&](const HttpRequest&) { return reply; }).why;
  };
  EXPECT_EQ(why({.status = 403, .body = "<Code>AccessDenied</Code>"}),
            "the store refuses to list it (403 AccessDenied): the keys of the environment need the "
            "right to list (s3:ListBucket, storage.objects.list); without it, name shards by a "
            "pattern, as in 'train-{000000..000099}.tar'");
  EXPECT_EQ(why({.status = 404, .body = "<Code>NoSuchBucket</Code>"}),
            "there is no 's3://b' (404 NoSuchBucket)");
  EXPECT_EQ(why({.status = 301}),
            "'s3://b' is in another region (301); name it in data.store.region");
  EXPECT_EQ(why({.status = 200, .body = "<ListBucketResult>"}),
            "the list cannot be read: it is cut");
  EXPECT_EQ(why({.status = 200, .too_long = true}), "a page of the list has more than 16 MiB");
}

}  // namespace
}  // namespace ddptrain
