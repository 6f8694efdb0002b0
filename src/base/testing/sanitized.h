#pragma once
// Whether a test runs under a sanitizer, where all is ten times slower.

namespace gpuop {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// `plain` repetitions, or a tenth of them under a sanitizer.
constexpr int Repetitions(int plain) { return kSanitized ? (plain + 9) / 10 : plain; }

}  // namespace gpuop
