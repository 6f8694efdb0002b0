#include "os/library.h"

namespace gpuop::os {
namespace {

TEST(Library, FindsAFunctionAndCallsIt) {
  auto maths = Library::Open("libm.so.6");
  ASSERT_TRUE(maths) << maths.error().text;
  auto cosine = maths->Symbol<double(double)>("cos");
  ASSERT_TRUE(cosine) << cosine.error().text;
  EXPECT_EQ((*cosine)(0.0), 1.0);
}

TEST(Library, ALibraryOrSymbolThatIsNotThereIsAnError) {
  auto none = Library::Open("libgpuop-none.so.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kUnavailable);
  EXPECT_THAT(none.error().text, testing::HasSubstr("libgpuop-none.so.1: cannot open shared object file"));
  auto maths = Library::Open("libm.so.6");
  ASSERT_TRUE(maths);
  EXPECT_EQ(maths->Symbol<void()>("nvmlInit_v2").error(),
            (Error{Code::kUnsupported, "libm.so.6: no symbol nvmlInit_v2"}));
}

}  // namespace
}  // namespace gpuop::os
