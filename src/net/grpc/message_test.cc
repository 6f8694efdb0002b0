#include "net/grpc/message.h"

namespace gpuop::net {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(GrpcMessage, ComesWholeHoweverItWasCut) {
  const std::string bytes = FrameMessage("first") + FrameMessage("") + FrameMessage(std::string(1000, 'x'));
  EXPECT_EQ(FrameMessage("first").substr(0, 5), std::string("\0\0\0\0\5", 5));
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    MessageReader reader(1000);
    std::vector<std::string> messages;
    for (std::size_t at = 0; at < bytes.size(); at += cut) {
      reader.Feed(std::string_view(bytes).substr(at, cut));
      for (auto next = reader.Next(); next && *next; next = reader.Next()) messages.push_back(*std::move(*next));
    }
    EXPECT_EQ(messages, (std::vector<std::string>{"first", "", std::string(1000, 'x')})) << cut;
    EXPECT_FALSE(reader.in_message());
  }
}

TEST(GrpcMessage, IsRefusedByItsLengthAloneAndWhenCompressed) {
  MessageReader reader(1000);
  reader.Feed(std::string("\0\0\0\3\351", 5));
  EXPECT_EQ(reader.Next().error(), (Error{Code::kTooLarge, "a message of 1001 bytes; at most 1000 are taken"}));
  MessageReader other(1000);
  other.Feed(std::string("\1\0\0\0\1x", 6));
  EXPECT_EQ(other.Next().error().code, Code::kUnsupported);
}

TEST(GrpcMessage, StatusTextsTravelAsPrintableAscii) {
  struct Case {
    const char *text, *coded;
  };
  for (const Case& c : {Case{"", ""}, Case{"plain, ~ and !", "plain, ~ and !"}, Case{"100% \u2603", "100%25 %E2%98%83"},
                        Case{"two\nlines", "two%0Alines"}}) {
    EXPECT_EQ(EncodeStatusText(c.text), c.coded);
    EXPECT_EQ(DecodeStatusText(c.coded), c.text);
  }
  EXPECT_EQ(DecodeStatusText("%e2%98%83"), "\u2603");
  for (const char* broken : {"%", "50%", "%4", "%zz", "a%4"}) EXPECT_EQ(DecodeStatusText(broken), broken);
}

TEST(GrpcMessage, TimeoutsHaveEightDigitsAndAUnit) {
  struct Case {
    Duration limit;
    const char* text;
  };
  for (const Case& c : {Case{1ns, "1n"}, Case{50ms, "50000000n"}, Case{10s, "10000000u"}, Case{100s, "100000m"},
                        Case{48h, "172800S"}, Case{Duration::max(), "2562048H"}, Case{-5s, "1n"}})
    EXPECT_EQ(FormatTimeout(c.limit), c.text);
  EXPECT_EQ(ParseTimeout("10S"), 10s);
  EXPECT_EQ(ParseTimeout("1m"), 1ms);
  EXPECT_EQ(ParseTimeout("3M"), 3min);
  EXPECT_EQ(ParseTimeout("0n"), 0s);
  EXPECT_GT(ParseTimeout("99999999H"), 24h * 365 * 100);
  for (const char* broken : {"", "S", "10", "10x", "-1S", "1.5S", "123456789S", " 1S"})
    EXPECT_FALSE(ParseTimeout(broken)) << broken;
}

}  // namespace
}  // namespace gpuop::net
