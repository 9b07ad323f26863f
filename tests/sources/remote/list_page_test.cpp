#include "sources/remote/list_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string list_of(const std::string& inside) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" +
         inside + "</ListBucketResult>";
}

std::string object_of(const std::string& key, const std::string& size = "5") {
  return "<Contents><Key>" + key + "</Key><Size>" + size + "</Size></Contents>";
}

std::string why_of(const std::string& xml) { return parse_list_page(xml).why; }

// The sample response of docs.aws.amazon.com, "ListObjectsV2".
TEST(ListPage, IsTheOneOfTheDocumentation) {
  const auto page = parse_list_page(list_of(R"(
  <Name>bucket</Name>
  <Prefix/>
  <KeyCount>205</KeyCount>
  <MaxKeys>1000</MaxKeys>
  <IsTruncated>false</IsTruncated>
  <Contents>
    <Key>my-image.jpg</Key>
    <LastModified>2009-10-12T17:50:30.000Z</LastModified>
    <ETag>"fba9dede5f27731c9771645a39863328"</ETag>
    <Size>434234</Size>
    <StorageClass>STANDARD</StorageClass>
  </Contents>
)"));
  EXPECT_EQ(page.why, "");
  ASSERT_EQ(page.objects.size(), 1);
  EXPECT_EQ(page.objects[0].key, "my-image.jpg");
  EXPECT_EQ(page.objects[0].size, 434234);
  EXPECT_EQ(page.objects[0].tag, "\"fba9dede5f27731c9771645a39863328\"");
  EXPECT_EQ(page.objects[0].modified, "2009-10-12T17:50:30.000Z");
  EXPECT_FALSE(page.truncated);
}

TEST(ListPage, HasFoldersAndTheNextPage) {
  const auto page = parse_list_page(
      list_of("<CommonPrefixes><Prefix>photos/2006/February/</Prefix></CommonPrefixes>"
              "<CommonPrefixes><Prefix>photos/2006/January/</Prefix></CommonPrefixes>"
              "<IsTruncated>true</IsTruncated>"
              "<NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM="
              "</NextContinuationToken>"));
  EXPECT_THAT(page.prefixes, ElementsAre("photos/2006/February/", "photos/2006/January/"));
  EXPECT_TRUE(page.truncated);
  EXPECT_EQ(page.next, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=");
}

// XML 1.0, sections 4.1 and 4.6.
TEST(ListPage, ReplacesCharactersByTheirReferences) {
  const auto page = parse_list_page(list_of(object_of("a&amp;b&lt;&gt;&quot;&apos;&#65;&#x20ac;")));
  ASSERT_EQ(page.objects.size(), 1);
  EXPECT_EQ(page.objects[0].key, "a&b<>\"'A\xe2\x82\xac");
}

TEST(ListPage, SkipsWhatIsNotAskedFor) {
  const auto page = parse_list_page(list_of(
      "<!-- a > b --><Owner><ID x='a>b'>me</ID><Key>no key</Key></Owner>" + object_of("a.tar")));
  EXPECT_EQ(page.why, "");
  ASSERT_EQ(page.objects.size(), 1);
  EXPECT_EQ(page.objects[0].key, "a.tar");
}

TEST(ListPage, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(why_of(""), "it is cut");
  EXPECT_EQ(why_of("busy"), "it is not XML");
  EXPECT_EQ(why_of("<html><body>hello</body></html>"), "it is 'html' and no list of a bucket");
  EXPECT_EQ(why_of(list_of("<Contents><Size>5</Size></Contents>")),
            "it lists a file without a key");
  EXPECT_EQ(why_of(list_of("<Contents><Key>a</Key></Contents>")), "it lists 'a' without a size");
  EXPECT_EQ(why_of(list_of(object_of("a", "-5"))), "it lists 'a' without a size");
  EXPECT_EQ(why_of(list_of(object_of("a", "99999999999999999999"))), "it lists 'a' without a size");
  EXPECT_EQ(why_of(list_of(object_of("a&b;c"))), "it has an '&' that begins no character");
  EXPECT_EQ(why_of(list_of(object_of("a&#xd800;"))), "it has an '&' that begins no character");
  EXPECT_EQ(why_of(list_of(object_of("a\xff"))), "it is not UTF-8");
  EXPECT_EQ(why_of(list_of("<a></b>")), "its elements do not match");
  EXPECT_EQ(why_of(list_of("<IsTruncated>true</IsTruncated>")),
            "it has more pages, and does not say how to request them");
}

TEST(ListPage, ThatIsCutAnywhereIsNotRead) {
  const auto whole = list_of(object_of("a.tar") + object_of("b.tar"));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(why_of(whole.substr(0, size)), "") << size;
  EXPECT_EQ(why_of(whole), "");
}

// "Billion laughs" needs a document type.
TEST(ListPage, WithADocumentTypeIsRefused) {
  EXPECT_EQ(
      why_of("<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]>" + list_of(object_of("&c;"))),
      "it declares a document type or has marked sections");
}

TEST(ListPage, WithManyOpenElementsIsRefused) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_EQ(why_of(list_of(deep)), "its elements are nested too deep");
}

TEST(ListPage, AnErrorHasACode) {
  EXPECT_EQ(error_code_of("<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code></Error>"),
            "NoSuchBucket");
  EXPECT_THAT(error_code_of("<Code>a b</Code>"), IsEmpty());
  EXPECT_THAT(error_code_of("<Code>" + std::string(100, 'a')), IsEmpty());
  EXPECT_THAT(error_code_of("not found"), IsEmpty());
}

}  // namespace
}  // namespace ddptrain
