#include "jobs/draft/csv_sniff.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What `init` would write of a file of this header and these rows, each three times.
std::string written(const std::string& header, const std::vector<std::string>& rows) {
  const TemporaryFolder folder;
  std::string text = header;
  for (int i = 0; i < 3; ++i)
    for (const auto& row : rows) text += row + "\n";
  return csv_lines(sniff_csv(folder.write("a.csv", text)).format);
}

TEST(SniffedCsvs, AreAsPandasReadsThemUnlessSomethingSaysOtherwise) {
  EXPECT_EQ(written("a,b\n", {"1,x", "2.5,y"}), "");
  EXPECT_EQ(written("a;b\n", {"1.125;3", "0.250;4"}), "  csv: {separator: ;}\n") << "fractions";
  EXPECT_EQ(written("a;b\n", {"48.125;3", "9.25;4"}), "  csv: {separator: ;}\n");
}

TEST(SniffedCsvs, HaveOneStyleOfNumbers) {
  EXPECT_EQ(written("a;b\n", {"1.200;3", "350.000;4"}),
            "  csv: {separator: ;, decimal: \",\", thousands: .}\n");
  EXPECT_EQ(written("a,b\n", {"\"1,200\",3", "\"7,350,000\",4"}), "  csv: {thousands: \",\"}\n");
  EXPECT_EQ(written("a\tb\n", {"1,5\t3", "2,25\t4"}), "  csv: {separator: tab, decimal: \",\"}\n");
}

TEST(SniffedCsvs, HaveAColumnOfOneUnitAlone) {
  EXPECT_EQ(written("a,b\n", {"3 kg,1", "7 kg,2"}), "  csv: {units: [kg]}\n");
  EXPECT_EQ(written("a,b\n", {"3 kg,1", "700 g,2"}), "") << "no numbers: they are not of one unit";
}

TEST(SniffedCsvs, HaveAHeaderUnlessItIsLikeTheRows) {
  EXPECT_EQ(written("", {"5.1,3.5,setosa", "4.9,3.0,virginica"}), "  csv: {header: false}\n");
  EXPECT_EQ(written("country,2001,2002,2003\n", {"A,1,2,3", "B,4,5,6"}), "") << "years";
  EXPECT_EQ(written("0,1,2,3\n", {"7,1,2,3", "9,4,5,6"}), "") << "as pandas numbers columns";
  EXPECT_EQ(written(",a\n", {"0,x", "1,y"}), "") << "as pandas writes an index";
  EXPECT_EQ(written("name,kind\n", {"x,y", "z,y"}), "");
  EXPECT_EQ(written("", {"red,yes", "blue,no"}), "  csv: {header: false}\n");
}

TEST(SniffedCsvs, HaveLinesBeforeTheirHeader) {
  EXPECT_EQ(written("Report;;\n;;\na;b;c\n", {"1;2;x", "3;4;y"}),
            "  csv: {separator: ;, skip_lines: 2}\n");
  EXPECT_EQ(written("# by a machine\na,b\n", {"1,x", "3,y"}), "  csv: {skip_lines: 1}\n");
}

TEST(SniffedCsvs, SpellMissingValuesAsPeopleDo) {
  const TemporaryFolder folder;
  const auto missing = [&](const std::string& rows) {
    return sniff_csv(folder.write("a.csv", "a,b\n" + rows)).missing;
  };
  EXPECT_THAT(missing("1,x\n-,y\nk.A.,z\n"), ElementsAre("-", "k.A."));
  EXPECT_THAT(missing("1,+\n2,-\n3,+\n"), IsEmpty()) << "names, of which none is missing";
  EXPECT_THAT(missing("1,?\nNA,y\n"), ElementsAre("?"));
}

TEST(SniffedCsvs, NameTheFewCellsOfAColumnOfNumbersThatAreNone) {
  const TemporaryFolder folder;
  const auto with = [&](int strays) {
    std::string text = "area,city\n";
    for (int row = 1; row <= 100; ++row)
      text += (row <= strays ? "ca. 9" + std::to_string(row) : std::to_string(row)) + ",Ulm\n";
    return sniff_csv(folder.write("a.csv", text));
  };
  EXPECT_THAT(with(1).missing, testing::ElementsAre("ca. 91"));
  EXPECT_THAT(
      with(1).strays,
      testing::ElementsAre("column 'area': 'ca. 91' in row 1 is no number, and counts as missing"));
  EXPECT_THAT(with(3).missing, testing::IsEmpty());  // names, among which some are numbers
  EXPECT_THAT(with(3).strays, testing::IsEmpty());
}

TEST(SniffedCsvs, SayWhatIsWrongWithAFile) {
  const TemporaryFolder folder;
  try {
    sniff_csv(folder.write("a.csv", "a,b\n1,2\n3,4,5\n"));
    FAIL() << "a row of three cells";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(folder.path().size()),
              "/a.csv:3: column 3: 3 fields where the header has 2");
  }
}

}  // namespace
}  // namespace ddptrain
