#include "data/csv.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

/// What is wrong with a text, after the file's name.
std::string problem(std::string_view text) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.csv", text);
  try {
    Csv csv(path);
    csv.required_column("path");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return std::string(error.what()).substr(path.size());
  }
  return "none";
}

TEST(Csv, ReadsQuotedFieldsLineEndsAndAByteOrderMark) {
  const TemporaryFolder folder;
  const Csv csv(
      folder.write("a.csv", "\xef\xbb\xbfpath,label\r\n\"a, \"\"b\"\".jpg\",\"two\nlines\"\nc,\n"));
  ASSERT_EQ(csv.rows(), 2);
  EXPECT_EQ(csv.at(0, csv.required_column("path")), "a, \"b\".jpg");
  EXPECT_EQ(csv.at(0, 1), "two\nlines");
  EXPECT_EQ(csv.at(1, 1), "");
  EXPECT_FALSE(csv.column("weight"));
  try {
    csv.fail(1, 1, "empty");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a.csv:4: column 'label': empty"));
  }
}

TEST(Csv, NamesWhatIsWrongAndWhere) {
  EXPECT_EQ(problem("path,label\na,b\nc\n"), ":3: 1 field where the header has 2");
  EXPECT_EQ(problem("path,label\na,b,c\n"), ":2: 3 fields where the header has 2");
  EXPECT_EQ(problem("path,label\n\na,b\n"), ":2: 1 field where the header has 2");
  EXPECT_EQ(problem("path,label\na,\"b\n"), ":2: column 2: a quote that is not closed");
  EXPECT_EQ(problem("path,label\na,\"b\"c\n"), ":2: column 2: text after the closing quote");
  EXPECT_EQ(problem("path,label\na,b\"c\n"), ":2: column 2: a quote inside of an unquoted field");
  EXPECT_EQ(problem("path,path\na,b\n"), ":1: two columns are called 'path'");
  EXPECT_EQ(problem("file,label\na,b\n"), ":1: no column 'path'; there are 'file', 'label'");
  EXPECT_EQ(problem("path,label\n"), ": no rows below the header");
  EXPECT_EQ(problem(""), ": no rows below the header");
  EXPECT_EQ(problem("path,label\n\xff,b\n"), ": not UTF-8 text (byte 12)");
}

}  // namespace
}  // namespace ddptrain
