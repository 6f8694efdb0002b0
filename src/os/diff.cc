#include "os/diff.h"

#include <algorithm>
#include <vector>

namespace gpuop::os {
namespace {

constexpr int kMostEdits = 2000;
constexpr std::size_t kContext = 3;

using Lines = std::vector<std::string_view>;  // each with its line end

/// One line of the whole story: kept (' '), removed ('-') or added ('+').
struct Step {
  char kind;
  std::string_view line;
};

Lines SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

/// E. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986): the shortest way from a to b through the grid
/// of their lines. `reach[d]` holds, for each diagonal k in [-d, d], how far d edits lead (index k + d).
std::vector<std::vector<int>> FindReach(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  std::vector<std::vector<int>> reach;
  for (int d = 0; d <= std::min(n + m, kMostEdits); ++d) {
    std::vector<int> row(static_cast<std::size_t>(2 * d) + 1);
    for (int k = -d; k <= d; k += 2) {
      int x = 0;
      if (d > 0) {
        const std::vector<int>& last = reach.back();
        const auto at = [&](int diagonal) { return last[static_cast<std::size_t>(diagonal + d - 1)]; };
        x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      }
      while (x < n && x - k < m && x - k >= 0 && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)])
        ++x;
      row[static_cast<std::size_t>(k + d)] = x;
      if (x >= n && x - k >= m) {
        reach.push_back(std::move(row));
        return reach;
      }
    }
    reach.push_back(std::move(row));
  }
  return {};
}

/// The steps between two texts that share neither their first nor their last line.
std::vector<Step> Middle(const Lines& a, const Lines& b) {
  std::vector<Step> steps;
  const std::vector<std::vector<int>> reach = FindReach(a, b);
  if (reach.empty()) {
    for (std::string_view line : a) steps.push_back({'-', line});
    for (std::string_view line : b) steps.push_back({'+', line});
    return steps;
  }
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  for (int d = static_cast<int>(reach.size()) - 1; d >= 0; --d) {
    const int k = x - y;
    int from_x = 0, from_y = 0;
    bool added = false;
    if (d > 0) {
      const std::vector<int>& last = reach[static_cast<std::size_t>(d - 1)];
      const auto at = [&](int diagonal) { return last[static_cast<std::size_t>(diagonal + d - 1)]; };
      added = k == -d || (k != d && at(k - 1) < at(k + 1));
      const int from_k = added ? k + 1 : k - 1;
      from_x = at(from_k);
      from_y = from_x - from_k;
    }
    const int kept_from = d == 0 ? 0 : from_x + (added ? 0 : 1);
    while (x > kept_from) steps.push_back({' ', a[static_cast<std::size_t>(--x)]}), --y;
    if (d > 0)
      steps.push_back(added ? Step{'+', b[static_cast<std::size_t>(from_y)]}
                            : Step{'-', a[static_cast<std::size_t>(from_x)]});
    x = from_x;
    y = from_y;
  }
  std::ranges::reverse(steps);
  return steps;
}

std::vector<Step> Steps(Lines a, Lines b) {
  const auto [a1, b1] = std::ranges::mismatch(a, b);
  const Lines head(a.begin(), a1);
  a.erase(a.begin(), a1);
  b.erase(b.begin(), b1);
  Lines tail;
  for (; !a.empty() && !b.empty() && a.back() == b.back(); a.pop_back(), b.pop_back()) tail.push_back(a.back());
  std::vector<Step> steps;
  for (std::string_view line : head) steps.push_back({' ', line});
  std::ranges::copy(Middle(a, b), std::back_inserter(steps));
  for (auto it = tail.rbegin(); it != tail.rend(); ++it) steps.push_back({' ', *it});
  return steps;
}

std::string Range(std::size_t first, std::size_t count) {
  // With no lines the number is that of the line before (POSIX diff, unified format).
  std::string text = std::to_string(count == 0 ? first : first + 1);
  if (count != 1) text.append(",").append(std::to_string(count));
  return text;
}

void AppendHunk(std::string& out, const std::vector<Step>& steps, std::size_t begin, std::size_t end,
                std::size_t old_at, std::size_t new_at) {
  std::size_t old_count = 0, new_count = 0;
  std::string body;
  for (std::size_t i = begin; i < end; ++i) {
    old_count += steps[i].kind != '+' ? 1 : 0;
    new_count += steps[i].kind != '-' ? 1 : 0;
    body.append(1, steps[i].kind).append(steps[i].line);
    if (!body.ends_with('\n')) body.append("\n\\ No newline at end of file\n");
  }
  out.append("@@ -").append(Range(old_at, old_count)).append(" +").append(Range(new_at, new_count)).append(" @@\n");
  out.append(body);
}

}  // namespace

std::string UnifiedDiff(std::string_view from, std::string_view to, std::string_view before, std::string_view after) {
  if (before == after) return "";
  std::string out;
  if (before.find('\0') != std::string_view::npos || after.find('\0') != std::string_view::npos)
    return out.append("Binary files ").append(from).append(" and ").append(to).append(" differ\n");
  out.append("--- ").append(from).append("\n+++ ").append(to).append("\n");
  const std::vector<Step> steps = Steps(SplitLines(before), SplitLines(after));
  std::size_t old_at = 0, new_at = 0, at = 0;  // lines and steps before `at`
  const auto pass = [&](std::size_t until) {
    for (; at < until; ++at) {
      old_at += steps[at].kind != '+' ? 1 : 0;
      new_at += steps[at].kind != '-' ? 1 : 0;
    }
  };
  for (;;) {
    std::size_t first = at;
    while (first < steps.size() && steps[first].kind == ' ') ++first;
    if (first == steps.size()) return out;
    // A hunk goes on while the next change is near enough for the lines around both to touch.
    std::size_t last = first;
    for (std::size_t i = first; i < steps.size() && i - last <= 2 * kContext + 1; ++i)
      if (steps[i].kind != ' ') last = i;
    pass(std::max(at, first < kContext ? 0 : first - kContext));
    const std::size_t end = std::min(steps.size(), last + 1 + kContext);
    AppendHunk(out, steps, at, end, old_at, new_at);
    pass(end);
  }
}

}  // namespace gpuop::os
