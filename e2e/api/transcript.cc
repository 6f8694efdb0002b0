#include "e2e/api/transcript.h"

#include <algorithm>
#include <exception>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/text.h"

namespace gpuop::e2e {
namespace {

struct Step {
  std::string title, text;
};

std::vector<Step> Steps(const std::string& transcript) {
  std::vector<Step> steps;
  for (const std::string_view line : Split(transcript, '\n')) {
    if (line.starts_with("--- ")) {
      steps.push_back({std::string(line.substr(4)), ""});
    } else if (!steps.empty()) {
      steps.back().text.append(line).append("\n");
    }
  }
  return steps;
}

/// Only the lines that differ, with a line of context before each run.
std::string LineDifferences(const std::string& wanted, const std::string& got) {
  const auto a = Split(wanted, '\n');
  const auto b = Split(got, '\n');
  // Longest common subsequence by table; answers are small.
  std::vector<std::vector<std::uint32_t>> common(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string out;
  std::size_t i = 0;
  std::size_t j = 0;
  std::string_view context;
  bool open = false;
  auto show = [&](std::string_view sign, std::string_view line) {
    if (!open && !context.empty()) out.append("      ").append(context).append("\n");
    open = true;
    out.append("    ").append(sign).append(" ").append(line).append("\n");
  };
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      context = a[i];
      open = false;
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      show("-", a[i++]);
    } else {
      show("+", b[j++]);
    }
  }
  return out;
}

}  // namespace

Transcript Play(const Scenario& scenario, const DoorFactory& doors, const Pump& pump) {
  try {
    Session session(doors, pump, std::string("s-") + scenario.name);
    try {
      scenario.run(session);
    } catch (const std::exception& e) {
      session.Note("the scenario could not go on", e.what());
    }
    return {scenario.name, session.transcript(), session.checks()};
  } catch (const std::exception& e) {
    return {scenario.name, std::string("--- note the scenario could not start\n") + e.what() + "\n", 1};
  }
}

std::string Differences(const std::string& wanted, const std::string& got, std::size_t* count) {
  const std::vector<Step> a = Steps(wanted);
  const std::vector<Step> b = Steps(got);
  std::string out;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && i < b.size() && a[i].title == b[i].title && a[i].text == b[i].text) continue;
    ++*count;
    const Step none{"(nothing)", ""};
    const Step& left = i < a.size() ? a[i] : none;
    const Step& right = i < b.size() ? b[i] : none;
    out.append("  step ").append(std::to_string(i + 1)).append(": ").append(left.title);
    if (left.title != right.title) out.append("  /  ").append(right.title);
    out.append("\n").append(LineDifferences(left.text, right.text));
  }
  return out;
}

Result<std::string> ReadGolden(const std::filesystem::path& folder, const std::string& scenario) {
  std::ifstream in(folder / (scenario + ".txt"));
  if (!in)
    return Fail(Code::kNotFound,
                (folder / (scenario + ".txt")).string() + ": cannot be read; record it from a real API server");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Result<> WriteGolden(const std::filesystem::path& folder, const Transcript& transcript) {
  std::ofstream out(folder / (transcript.name + ".txt"));
  out << transcript.text;
  if (!out.flush()) return Fail(Code::kIo, (folder / (transcript.name + ".txt")).string() + ": cannot be written");
  return {};
}

}  // namespace gpuop::e2e
