#include "text/fastai/fastai_rules.h"

#include <gtest/gtest.h>

#include "text/unicode.h"

namespace ddptrain {
namespace {

std::string applied(TextRule rule, std::string text) {
  std::string spare;
  apply(rule, text, spare);
  return text;
}

std::string lowered(std::string_view text) {
  std::string out;
  append_lower(out, text);
  return out;
}

// Expected texts of this file are what Python 3.11 and fastai 2.8.12 give.
TEST(FixHtml, KnowsHtmlCharacterReferences) {
  const auto fix = [](const std::string& text) { return applied(TextRule::fix_html, text); };
  EXPECT_EQ(fix("&lt;&#60;&#x3C;&LT"), "<<<<");
  EXPECT_EQ(fix("&notit; &notin; &ampere"), "¬it; ∉ &ere");
  EXPECT_EQ(fix("&#128;&#150;&#0;&#xD800;&#1;&#99999999999999999999;"), "€–\ufffd\ufffd\ufffd");
  EXPECT_EQ(fix("&; &# &#x; & a&b &nosuchthing;"), "&; &# &#x; & a&b &nosuchthing;");
  EXPECT_EQ(fix("&fjlig;&NotEqualTilde;"), "fj≂̸");
}

TEST(FixHtml, ReplacesInTheOrderOfFastai) {
  const auto fix = [](const std::string& text) { return applied(TextRule::fix_html, text); };
  EXPECT_EQ(fix("amp;nbsp;amp;lt;"), "& <");
  EXPECT_EQ(fix("a @.@ b.. @.@ "), "a.b …");
  EXPECT_EQ(fix("<brnbsp;/>"), "\n");
}

TEST(ReplaceRep, CountsCharactersNotBytes) {
  const auto rep = [](const std::string& text) { return applied(TextRule::replace_rep, text); };
  EXPECT_EQ(rep("ééé"), " xxrep 3 é ");
  EXPECT_EQ(rep("éé"), "éé");
  EXPECT_EQ(rep("日日日日aaab"), " xxrep 4 日  xxrep 3 a b");
  EXPECT_EQ(rep("a   b\n\n\n\u3000\u3000\u3000"), "a   b\n\n\n\u3000\u3000\u3000");
}

TEST(ReplaceWrep, FollowsTheRegularExpression) {
  const auto wrep = [](const std::string& text) { return applied(TextRule::replace_wrep, text); };
  EXPECT_EQ(wrep("a a a a"), " xxwrep 4 a ");
  EXPECT_EQ(wrep("so no no no nope"), "so xxwrep 3 no  nope");
  EXPECT_EQ(wrep("no no no."), " xxwrep 3 no .");
  EXPECT_EQ(wrep("a a a b b b"), " xxwrep 3 a  b b b");  // the space between is used up
  EXPECT_EQ(wrep("a a a  b b b"), " xxwrep 3 a   xxwrep 3 b ");
  EXPECT_EQ(wrep("x-a a a a"), "x-a xxwrep 3 a ");
  EXPECT_EQ(wrep("no no"), "no no");
  EXPECT_EQ(wrep("\u3000été été\u2003été"), " xxwrep 3 été ");
}

TEST(Capitals, AreMarkedByWholeTokens) {
  const auto all = [](const std::string& text) {
    return applied(TextRule::replace_all_caps, text);
  };
  EXPECT_EQ(all("CAFÉ ÉCOLE A1-B2! \xe2\x80\x9cNO"), "xxup café ÉCOLE xxup a1-b2! \xe2\x80\x9cNO");
  const auto first = [](const std::string& text) { return applied(TextRule::replace_maj, text); };
  EXPECT_EQ(first("I It's eBay Ébay McD"), "i xxmaj it's eBay Ébay McD");
}

// Text is looked at eight bytes at a time: a rule must not depend on where its match stands.
TEST(Rules, WorkAtEveryPlaceOfAText) {
  for (int before = 1; before < 20; ++before)
    for (int behind = 0; behind < 20; ++behind) {
      std::string first, last;
      for (int i = 0; i < before; ++i) first += i % 2 == 0 ? 'a' : 'b';
      for (int i = 0; i < behind; ++i) last += i % 2 == 0 ? 'd' : 'e';
      const auto expect = [&](TextRule rule, const std::string& from, const std::string& to) {
        EXPECT_EQ(applied(rule, first + from + last), first + to + last);
      };
      expect(TextRule::fix_html, "<br />...", "\n …");
      expect(TextRule::replace_rep, "ccc", " xxrep 3 c ");
      expect(TextRule::replace_rep, "…ééé", "… xxrep 3 é ");
      expect(TextRule::replace_rep, "   \xe3\x81\x82\xe3\x81\x83", "   \xe3\x81\x82\xe3\x81\x83");
      expect(TextRule::replace_wrep, " no no\tno.", " xxwrep 3 no .");
      expect(TextRule::replace_wrep, " x \u3000it\u3000it  it ", " x  xxwrep 3 it  ");
      expect(TextRule::spec_add_spaces, "/x#\\", " / x #  \\ ");
      expect(TextRule::rm_useless_spaces, " x  y    z ", " x y z ");
      expect(TextRule::replace_all_caps, "ABC DEF\u2003G1 ", "ABC xxup def\u2003xxup g1 ");
      expect(TextRule::replace_maj, "Abc Def\u2003G \x1fÉa Ab-c ",
             "Abc xxmaj def\u2003g \x1fÉa xxmaj ab-c ");
      EXPECT_EQ(lowered(first + "@AZ[`az{ÀI…" + last), first + "@az[`az{ài…" + last);
      EXPECT_EQ(applied(TextRule::lowercase, " \n" + first + "X" + last + "\u2003 "),
                "xxbos " + first + "x" + last);
    }
}

TEST(Lower, KnowsWhatPythonKnows) {
  EXPECT_EQ(lowered("ÀÉ İ ΑΣ ΑΣΑ Σ Α.Σ. ǅ"), "àé i̇ ας ασα σ α.ς. ǆ");
}

TEST(Utf8, InvalidBytesAreReplacedAsPythonDoes) {
  EXPECT_EQ(replace_invalid_utf8("a\xff"
                                 "b"),
            "a\ufffdb");
  EXPECT_EQ(replace_invalid_utf8("\xe2\x82"
                                 "a"),
            "\ufffda");                                                   // one for what was begun
  EXPECT_EQ(replace_invalid_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // a surrogate
  EXPECT_EQ(replace_invalid_utf8("\xf0\x9f\x98"), "\ufffd");
  EXPECT_EQ(replace_invalid_utf8("\xc3\xa9"), "é");
}

}  // namespace
}  // namespace ddptrain
