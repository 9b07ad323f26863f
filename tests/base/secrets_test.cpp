#include "base/secrets.h"

#include <gtest/gtest.h>

#include "base/output/print.h"

namespace ddptrain {
namespace {

TEST(Secrets, MessagesHaveTheReferenceInTheirPlace) {
  keep_secret("swordfish", "${env:FISH_KEY}");
  EXPECT_EQ(without_secrets("'swordfish' is no number, swordfish"),
            "'${env:FISH_KEY}' is no number, ${env:FISH_KEY}");
  EXPECT_EQ(without_secrets("sword fish"), "sword fish");
}

TEST(Secrets, TheLongestIsMeantAndWhatStandsForItStays) {
  keep_secret("hook", "${env:HOOK_KEY}");
  keep_secret("hook, line and sinker", "${env:hook}/${env:SINKER}");
  EXPECT_EQ(without_secrets("hook, line and sinker; hook, line"),
            "${env:hook}/${env:SINKER}; ${env:HOOK_KEY}, line");
}

TEST(Secrets, ShortOnesAreMeantInQuotesAlone) {
  keep_secret("42", "${env:PIN_KEY}");
  EXPECT_EQ(without_secrets("'42' of 1142"), "'${env:PIN_KEY}' of 1142");
  keep_secret("", "${env:EMPTY_KEY}");
  EXPECT_EQ(without_secrets("a ''"), "a ''");
}

TEST(Secrets, AddressesLoseUserAndPassword) {
  EXPECT_EQ(without_secrets("no https://me:word@a.b/c@d, ssh://t\xc3\xb6ken@a.b:22"),
            "no https://*******@a.b/c@d, ssh://*****@a.b:22");
  for (const std::string plain : {"https://a.b/@c?x=@", "me@a.b", "https://", "://@", "a://b c@d"})
    EXPECT_EQ(without_passwords(plain), plain);
}

TEST(Secrets, AreNotPrintedWithText) {
  keep_secret("swordfish", "${env:FISH_KEY}");
  testing::internal::CaptureStdout();
  print_shown("swordfish: %s, %d\n", "a swordfish", 3);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "swordfish: a ${env:FISH_KEY}, 3\n");
}

TEST(ShownUrl, HidesUserPasswordAndQuery) {
  EXPECT_EQ(shown_url("https://a.b/c.zip"), "https://a.b/c.zip");
  EXPECT_EQ(shown_url("https://u:p@a.b/c.zip?t=1"), "https://a.b/c.zip?...");
  EXPECT_EQ(shown_url("https://u:p/q@r@a.b/c.zip#t"), "https://a.b/c.zip?...");
}

}  // namespace
}  // namespace ddptrain
