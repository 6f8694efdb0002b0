#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>

#include "cli/gpu/report.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

/// How many columns a cell takes: UTF-8 characters, escape sequences left out.
std::size_t Width(std::string_view cell) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == '\x1b') {
      i = std::min(cell.find('m', i), cell.size());
    } else if ((static_cast<unsigned char>(cell[i]) & 0xC0) != 0x80) {
      ++width;
    }
  }
  return width;
}

std::string Upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::string Paint::operator()(Standing standing, std::string_view words) const {
  if (!on_) return std::string(words);
  std::string_view code = "\x1b[31m";  // red
  if (standing == Standing::kFit) code = "\x1b[32m";
  if (standing == Standing::kWarning || standing == Standing::kWaiting || standing == Standing::kUnproved)
    code = "\x1b[33m";
  if (standing == Standing::kNone) code = "\x1b[2m";
  return fmt::format("{}{}\x1b[0m", code, words);
}

std::string Paint::Bold(std::string_view words) const {
  return on_ ? fmt::format("\x1b[1m{}\x1b[0m", words) : std::string(words);
}

int ExitCodeOf(Standing standing) {
  switch (standing) {
    case Standing::kNone:
    case Standing::kFit: return 0;
    case Standing::kWarning:
    case Standing::kBroken: return 1;
    case Standing::kUnproved:
    case Standing::kWaiting: return 4;
  }
  return 1;
}

std::string ChainText(api::Link link) {
  std::string out;
  for (auto l = api::Link::kHostDriver; l <= api::Link::kHealth; l = static_cast<api::Link>(static_cast<int>(l) + 1)) {
    if (!out.empty()) out += " > ";
    // "CUDA" is in capitals either way.
    out += l == link ? "[" + Upper(api::Name(l)) + "]" : std::string(api::Name(l));
  }
  return out;
}

std::string ExplainText(const Diagnosis& d, const Paint& paint) {
  std::string out;
  const bool broken = d.reason().severity != api::Severity::kFine;
  if (broken) out += fmt::format("  broken link  {}\n", ChainText(d.reason().link));
  out += fmt::format("  reason       {}: {}\n", paint.Bold(d.reason().name), d.reason().words);
  std::string_view head = "evidence";
  for (const std::string& line : d.evidence) {
    out += fmt::format("  {:<12} {}\n", head, line);
    head = "";
  }
  if (!d.check.empty()) out += fmt::format("  first check  {}\n", paint.Bold(d.check));
  return out;
}

boost::json::object ToJson(const Diagnosis& d) {
  boost::json::array evidence;
  for (const std::string& line : d.evidence) evidence.emplace_back(line);
  boost::json::object out{{"reason", d.reason().name}, {"words", d.reason().words}};
  if (d.reason().severity != api::Severity::kFine) out["link"] = api::Name(d.reason().link);
  out["evidence"] = std::move(evidence);
  if (!d.check.empty()) out["firstCheck"] = d.check;
  return out;
}

std::string UnseenText(const ClusterFacts& facts) {
  std::string out;
  const auto add = [&out](bool sees, std::string_view what) {
    if (!sees) out += fmt::format("  {:<12} {}\n", out.empty() ? "not seen" : "", what);
  };
  add(facts.sees_nodes, "nodes (this user may not list them): what they offer, and what is wrong with them");
  add(facts.sees_pods, "Pods of all namespaces (this user may not list them): who holds GPUs, and the operands");
  add(facts.sees_policies, "ClusterPolicies (this user may not list them)");
  return out;
}

boost::json::array UnseenJson(const ClusterFacts& facts) {
  boost::json::array out;
  if (!facts.sees_nodes) out.emplace_back("nodes");
  if (!facts.sees_pods) out.emplace_back("pods");
  if (!facts.sees_policies) out.emplace_back("clusterpolicies");
  return out;
}

boost::json::object NodeJson(const NodeView& node, Standing standing, const ClusterFacts& facts) {
  boost::json::object resources;
  for (const auto& [name, o] : node.offers)
    resources[name] =
        boost::json::object{{"advertised", o.advertised}, {"allocatable", o.allocatable}, {"used", o.used}};
  return {{"name", node.name()},
          {"arch", node.arch()},
          {"product", node.label("nvidia.com/gpu.product")},
          {"driverVersion", node.DriverVersion()},
          {"driverOwner", DriverOwner(node, facts)},
          {"toolkit", ToolkitPath(node, facts)},
          {"standing", Word(standing)},
          {"resources", std::move(resources)}};
}

std::string TableText(const std::vector<std::vector<std::string>>& cells) {
  std::vector<std::size_t> widths;
  for (const auto& row : cells) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string out;
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - Width(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace gpuop::cli::kubectl_gpu
